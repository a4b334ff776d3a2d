//! What is kept, and one function a method of the journal.

use std::collections::BTreeMap;

use holdfast_protocol::{
    Answer, Conversation, ConversationId, ConversationList, ConversationSummary, Outcome, Receipt,
    RequestId, State, Status, Timestamp,
};

use crate::clock::Uptime;
use crate::journal::{
    Accept, Begin, CancelledUnheard, Changes, ConversationKey, Cursor, Deletion, Imported,
    JournalError, Key, Listing, Mark, Moment, NewAsk, Partial, PrincipalId, Purge, Record, Restore,
    Result, Start, Terms, Transcript, TranscriptTurn, Turn, title_of,
};

use crate::search::Query;

/// The one principal there is.
pub(super) const LOCAL: PrincipalId = PrincipalId(1);

/// Every ask and every conversation, each by whose it is and which.
#[derive(Debug, Default)]
pub(super) struct Archive {
    asks: BTreeMap<(PrincipalId, RequestId), Ask>,
    conversations: BTreeMap<(PrincipalId, ConversationId), Line>,
    /// Those that somebody has deleted, and when.
    deleted: BTreeMap<(PrincipalId, ConversationId), Moment>,
    /// How many asks there have been.
    arrivals: u64,
}

/// An ask as it is kept.
#[derive(Debug)]
struct Ask {
    /// Its place among all.
    arrival: u64,
    /// All of it, save what is found out when it is read: its successor, and its text until it settles.
    record: Record,
    text: Pieces,
    reasoning: Pieces,
}

/// Pieces of text by where they begin, in bytes.
type Pieces = BTreeMap<u64, String>;

/// A conversation, its asks apart.
#[derive(Debug)]
struct Line {
    title: String,
    system_prompt: Option<String>,
    created_at: Timestamp,
    updated_at: Timestamp,
    /// The last place that was taken.
    last_seq: u64,
}

impl Archive {
    pub(super) fn find(&self, key: Key) -> Option<Record> {
        self.asks.get(&(key.principal, key.request_id)).map(|ask| self.read(ask))
    }

    pub(super) fn accept(&mut self, ask: NewAsk) -> Result<Accept> {
        let known = self.find(ask.key);
        let is_here =
            known.as_ref().is_none_or(|known| known.outcome.conversation_id == ask.conversation_id);
        if is_here && self.deleted.contains_key(&(ask.key.principal, ask.conversation_id)) {
            return Ok(Accept::Deleted);
        }
        if let Some(known) = known {
            if is_here && known.lacks_question() {
                self.arrive(ask)?;
            }
            return self.known(known.key()).map(Accept::Known);
        }
        if ask.key.principal != LOCAL {
            return Err(JournalError::Broken("there is no such principal".to_owned()));
        }
        if let Some(retry_of) = ask.retry_of {
            if !self.is_settled_before(&ask, retry_of) {
                return Ok(Accept::InvalidRetryOf);
            }
            if let Some(first) = self.successor(Key::new(ask.key.principal, retry_of)) {
                return Ok(Accept::AlreadyRetried(first));
            }
        }
        let key = ask.key;
        let conversation = ConversationKey::new(key.principal, ask.conversation_id);
        let start = ask.start.clone().filter(|_| !self.has_unsettled(conversation, u64::MAX));
        let mut outcome = Outcome::bare(
            key.request_id,
            ask.conversation_id,
            Status::Pending,
            Some(State::Accepted),
        );
        outcome.seq = Some(self.take_seq(&ask));
        outcome.question = Some(ask.question);
        outcome.asked_at = Some(ask.asked_at);
        outcome.retry_of = ask.retry_of;
        let mut record = Record {
            principal: key.principal,
            outcome,
            mark: Mark::Accepted,
            fingerprint: Some(ask.fingerprint),
            terms: ask.terms,
            submissions: 1,
            starts: 0,
            provider: None,
            deadlines: None,
        };
        if let Some(start) = start {
            call(&mut record, start);
        }
        self.keep(record);
        self.known(key).map(Accept::New)
    }

    pub(super) fn begin(&mut self, key: Key, start: Start) -> Result<Begin> {
        let known = self.known(key)?;
        if known.mark == Mark::Settled {
            return Ok(Begin::Settled(known.outcome));
        }
        if self.has_unsettled(known.conversation(), known.outcome.seq.unwrap_or_default()) {
            return Ok(Begin::NotYet);
        }
        if let Some(ask) = self.ask(key) {
            call(&mut ask.record, start);
        }
        Ok(Begin::Begun)
    }

    /// Text for what is not being called comes too late.
    pub(super) fn append(&mut self, key: Key, partial: Partial) {
        let Some(ask) = self.ask(key).filter(|ask| ask.is_called()) else { return };
        ask.record.submissions = ask.record.submissions.max(partial.submissions);
        if let (Some(deadlines), Some(silent)) = (&mut ask.record.deadlines, partial.silent) {
            deadlines.silent = deadlines.silent.max(silent);
        }
        for (pieces, offset, text) in [
            (&mut ask.text, partial.text_offset, partial.text),
            (&mut ask.reasoning, partial.reasoning_offset, partial.reasoning),
        ] {
            if !text.is_empty() {
                pieces.insert(offset, text);
            }
        }
    }

    pub(super) fn settle(&mut self, key: Key, outcome: Outcome) -> Result<Outcome> {
        let known = self.known(key)?;
        if known.mark == Mark::Settled {
            return Ok(known.outcome);
        }
        let conversation = known.conversation();
        let line = self.conversations.get_mut(&(conversation.principal, conversation.id));
        if let (Some(line), Some(settled_at)) = (line, outcome.settled_at) {
            line.updated_at = line.updated_at.max(settled_at);
        }
        if let Some(ask) = self.ask(key) {
            ask.end(outcome);
        }
        self.known(key).map(|record| record.outcome)
    }

    pub(super) fn cancel_unheard(&mut self, cancelled: CancelledUnheard) -> Result<Record> {
        let CancelledUnheard { ask, outcome, principal } = cancelled;
        let key = Key::new(principal, outcome.request_id);
        if let Some(known) = self.find(key) {
            return Ok(known);
        }
        if principal != LOCAL {
            return Err(JournalError::Broken("there is no such principal".to_owned()));
        }
        let asked_at = outcome.asked_at.unwrap_or_default();
        self.keep(unheard(key, outcome.conversation_id, asked_at));
        if let Some(kept) = self.ask(key) {
            kept.end(outcome);
        }
        if let Some(ask) = ask
            && !self.deleted.contains_key(&(principal, ask.conversation_id))
        {
            self.arrive(ask)?;
        }
        self.known(key)
    }

    pub(super) fn requeue(&mut self, key: Key) {
        if let Some(ask) = self.ask(key).filter(|ask| ask.is_called()) {
            ask.record.mark = Mark::Accepted;
            ask.record.outcome.state = Some(State::Accepted);
            ask.record.deadlines = None;
            ask.text.clear();
            ask.reasoning.clear();
        }
    }

    pub(super) fn unsettled(&self) -> Vec<Record> {
        self.in_order(|record| record.mark != Mark::Settled)
    }

    pub(super) fn overdue(&self, now: Uptime) -> Vec<Record> {
        self.in_order(|record| {
            record.deadlines.is_some_and(|deadlines| deadlines.silent.min(deadlines.run) <= now)
        })
    }

    pub(super) fn history(
        &self,
        conversation: ConversationKey,
        seq: u64,
        most: usize,
    ) -> Vec<Turn> {
        let mut read = 0;
        let turns = self.turns(conversation, seq).filter_map(|record| {
            let outcome = record.outcome;
            let is_seen = outcome.status.is_settled() && outcome.retried_by.is_none();
            let turn = Turn {
                request_id: outcome.request_id,
                status: outcome.status,
                answer: outcome.text().to_owned(),
                question: outcome.question?,
            };
            (is_seen && !turn.answer.is_empty()).then_some(turn)
        });
        turns
            .take_while(|turn| {
                let is_enough = read >= most;
                read += turn.question.len() + turn.answer.len();
                !is_enough
            })
            .collect()
    }

    pub(super) fn conversation(
        &self,
        conversation: ConversationKey,
        before: Option<u64>,
        limit: u32,
    ) -> Option<Conversation> {
        let id = (conversation.principal, conversation.id);
        let line = self.conversations.get(&id).filter(|_| !self.deleted.contains_key(&id))?;
        let mut turns = self.turns(conversation, before.unwrap_or(u64::MAX));
        let mut page: Vec<_> =
            turns.by_ref().take(limit as usize).map(|record| record.outcome).collect();
        let has_more = turns.next().is_some();
        page.reverse();
        let next = page.first().filter(|_| has_more).and_then(|turn| turn.seq);
        let (title, system_prompt) = (line.title.clone(), line.system_prompt.clone());
        Some(Conversation { id: conversation.id, title, system_prompt, turns: page, next })
    }

    pub(super) fn list(&self, principal: PrincipalId, listing: &Listing) -> ConversationList {
        let own = self
            .conversations
            .iter()
            .filter(|(id, _)| id.0 == principal && !self.deleted.contains_key(id));
        let mut all: Vec<_> =
            own.map(|((_, id), line)| self.summary(principal, *id, line)).collect();
        all.sort_by_key(|summary| std::cmp::Reverse(Cursor::after(summary)));
        all.retain(|summary| listing.before.is_none_or(|before| Cursor::after(summary) < before));
        if let Some(query) = &listing.matching {
            all.retain_mut(|summary| {
                summary.excerpt = self.excerpt(ConversationKey::new(principal, summary.id), query);
                summary.excerpt.is_some()
            });
        }
        let has_more = all.len() > listing.limit as usize;
        all.truncate(listing.limit as usize);
        let next = all.last().filter(|_| has_more).map(|last| Cursor::after(last).to_string());
        ConversationList { conversations: all, next }
    }

    /// The text around what is found, in the latest turn that holds it. What is under way is found by
    /// its question alone.
    fn excerpt(&self, conversation: ConversationKey, query: &Query) -> Option<String> {
        self.turns(conversation, u64::MAX).find_map(|record| {
            let is_settled = record.mark == Mark::Settled;
            let answer = if is_settled { record.outcome.text() } else { "" };
            let question = record.outcome.question.as_deref()?;
            let is_found = query.finds(question, answer);
            is_found.then(|| query.excerpt(question, answer)).flatten()
        })
    }

    pub(super) fn change(
        &mut self,
        conversation: ConversationKey,
        changes: Changes,
    ) -> Option<ConversationSummary> {
        let id = (conversation.principal, conversation.id);
        if self.deleted.contains_key(&id) {
            return None;
        }
        let line = self.conversations.get_mut(&id)?;
        if let Some(title) = changes.title {
            line.title = title.into_string();
        }
        if let Some(prompt) = changes.system_prompt {
            line.system_prompt = Some(prompt).filter(|prompt| !prompt.is_empty());
        }
        let line = self.conversations.get(&id)?;
        Some(self.summary(conversation.principal, conversation.id, line))
    }

    pub(super) fn system_prompt(&self, conversation: ConversationKey) -> Option<String> {
        let line = self.conversations.get(&(conversation.principal, conversation.id))?;
        line.system_prompt.clone()
    }

    pub(super) fn transcript(
        &self,
        conversation: ConversationKey,
        after: u64,
        limit: u32,
    ) -> Option<Transcript> {
        let id = (conversation.principal, conversation.id);
        let line = self.conversations.get(&id).filter(|_| !self.deleted.contains_key(&id))?;
        let mut records: Vec<_> = self.turns(conversation, u64::MAX).collect();
        records.reverse();
        records.retain(|record| record.outcome.seq.is_some_and(|seq| seq > after));
        records.truncate(limit as usize);
        Some(Transcript {
            id: conversation.id,
            title: line.title.clone(),
            system_prompt: line.system_prompt.clone(),
            created_at: line.created_at,
            updated_at: line.updated_at,
            turns: records.into_iter().filter_map(Record::into_turn).collect(),
        })
    }

    pub(super) fn import(
        &mut self,
        principal: PrincipalId,
        transcripts: Vec<Transcript>,
    ) -> Result<Imported> {
        let mut imported = Imported::default();
        if principal != LOCAL && !transcripts.is_empty() {
            return Err(JournalError::Broken("there is no such principal".to_owned()));
        }
        for mut transcript in transcripts {
            let conversation = ConversationKey::new(principal, transcript.id);
            let is_deleted = self.deleted.contains_key(&(principal, transcript.id));
            for turn in std::mem::take(&mut transcript.turns) {
                let known = self.find(Key::new(principal, turn.outcome.request_id));
                let is_same = known.as_ref().is_some_and(|known| {
                    known.mark == Mark::Settled && turn.says_the_same_as(&known.outcome)
                });
                if is_same && !is_deleted {
                    imported.unchanged += 1;
                } else if known.is_none() && !is_deleted && self.can_repeat(conversation, &turn) {
                    self.add(conversation, &transcript, turn);
                    imported.created += 1;
                } else {
                    imported.conflicts.push(turn.outcome.request_id);
                }
            }
        }
        Ok(imported)
    }

    fn can_repeat(&self, conversation: ConversationKey, turn: &TranscriptTurn) -> bool {
        turn.outcome.retry_of.is_none_or(|retry_of| {
            let key = Key::new(conversation.principal, retry_of);
            let is_own = self.find(key).is_some_and(|earlier| {
                earlier.mark == Mark::Settled && earlier.conversation() == conversation
            });
            is_own && self.successor(key).is_none()
        })
    }

    fn add(&mut self, conversation: ConversationKey, of: &Transcript, turn: TranscriptTurn) {
        let id = (conversation.principal, conversation.id);
        let line = self.conversations.entry(id).or_insert_with(|| Line {
            title: of.title.clone(),
            system_prompt: of.system_prompt.clone(),
            created_at: of.created_at,
            updated_at: of.updated_at,
            last_seq: 0,
        });
        line.updated_at = line.updated_at.max(of.updated_at);
        line.last_seq += 1;
        let TranscriptTurn { outcome, terms, fingerprint } = turn;
        let key = Key::new(conversation.principal, outcome.request_id);
        let asked_at = outcome.asked_at.unwrap_or_default();
        let mut record = unheard(key, conversation.id, asked_at);
        record.outcome.seq = Some(line.last_seq);
        record.outcome.question.clone_from(&outcome.question);
        record.outcome.retry_of = outcome.retry_of;
        record.fingerprint = Some(fingerprint);
        record.terms = terms;
        let calls = outcome.receipt.as_ref().map_or(0, |receipt| receipt.provider_calls);
        record.starts = u32::from(calls > 0);
        self.keep(record);
        if let Some(ask) = self.ask(key) {
            ask.end(outcome);
        }
    }

    pub(super) fn delete(&mut self, conversation: ConversationKey, at: Moment) -> bool {
        let id = (conversation.principal, conversation.id);
        let is_known = self.conversations.contains_key(&id) || self.deleted.contains_key(&id);
        if is_known {
            self.deleted.entry(id).or_insert(at);
        }
        is_known
    }

    pub(super) fn restore(&mut self, conversation: ConversationKey) -> Restore {
        let id = (conversation.principal, conversation.id);
        if let Some(line) = self.conversations.get(&id) {
            self.deleted.remove(&id);
            return Restore::There(self.summary(conversation.principal, conversation.id, line));
        }
        if self.deleted.contains_key(&id) { Restore::Purged } else { Restore::Unknown }
    }

    pub(super) fn deletions(&self) -> Vec<Deletion> {
        let mut deletions: Vec<_> = self
            .deleted
            .iter()
            .map(|(id, at)| Deletion {
                conversation: ConversationKey::new(id.0, id.1),
                at: *at,
                is_purged: !self.conversations.contains_key(id),
            })
            .collect();
        deletions.sort_by_key(|deletion| deletion.at.wall);
        deletions
    }

    /// Of each ask stays what there is of one that was cancelled before it arrived.
    pub(super) fn purge(&mut self, conversation: ConversationKey) -> Purge {
        let id = (conversation.principal, conversation.id);
        if !self.deleted.contains_key(&id) {
            return Purge::NotDeleted;
        }
        if self.has_unsettled(conversation, u64::MAX) {
            return Purge::UnderWay;
        }
        if self.conversations.remove(&id).is_none() {
            return Purge::Done;
        }
        for ask in self.asks.values_mut().filter(|ask| ask.record.conversation() == conversation) {
            ask.record = unheard(ask.record.key(), conversation.id, Timestamp::default());
            ask.record.outcome.status = Status::Cancelled;
            ask.record.outcome.settled_at = Some(Timestamp::default());
            ask.record.outcome.receipt = Some(Receipt::default());
        }
        Purge::Done
    }

    fn summary(
        &self,
        principal: PrincipalId,
        id: ConversationId,
        line: &Line,
    ) -> ConversationSummary {
        let turns: Vec<_> = self.turns(ConversationKey::new(principal, id), u64::MAX).collect();
        let pending = turns.iter().filter(|record| record.mark != Mark::Settled);
        ConversationSummary {
            id,
            title: line.title.clone(),
            created_at: line.created_at,
            updated_at: line.updated_at,
            pending: pending.count() as u64,
            turns: turns.len() as u64,
            excerpt: None,
        }
    }

    /// An ask that was cancelled before it arrived, arriving. It is recorded whatever it wanted to
    /// repeat; it only takes the place of the one successor where that place is free.
    fn arrive(&mut self, ask: NewAsk) -> Result<()> {
        let is_free = |archive: &Self, retry_of: RequestId| {
            retry_of != ask.key.request_id
                && archive.is_settled_before(&ask, retry_of)
                && archive.successor(Key::new(ask.key.principal, retry_of)).is_none()
        };
        let retry_of = ask.retry_of.filter(|retry_of| is_free(self, *retry_of));
        self.known(ask.key)?;
        let seq = self.take_seq(&ask);
        if let Some(Ask { record, .. }) = self.ask(ask.key) {
            record.outcome.seq = Some(seq);
            record.outcome.question = Some(ask.question);
            record.outcome.retry_of = retry_of;
            record.fingerprint = Some(ask.fingerprint);
            record.terms = ask.terms;
        }
        Ok(())
    }

    /// The next place in a conversation, which comes into being with its first ask.
    fn take_seq(&mut self, ask: &NewAsk) -> u64 {
        let fresh = || Line {
            title: title_of(&ask.question),
            system_prompt: Some(ask.system_prompt.clone()).filter(|prompt| !prompt.is_empty()),
            created_at: ask.asked_at,
            updated_at: ask.asked_at,
            last_seq: 0,
        };
        let id = (ask.key.principal, ask.conversation_id);
        let line = self.conversations.entry(id).or_insert_with(fresh);
        line.updated_at = line.updated_at.max(ask.asked_at);
        line.last_seq += 1;
        line.last_seq
    }

    fn keep(&mut self, record: Record) {
        self.arrivals += 1;
        let ask = Ask {
            arrival: self.arrivals,
            record,
            text: Pieces::default(),
            reasoning: Pieces::default(),
        };
        let key = ask.record.key();
        self.asks.insert((key.principal, key.request_id), ask);
    }

    fn ask(&mut self, key: Key) -> Option<&mut Ask> {
        self.asks.get_mut(&(key.principal, key.request_id))
    }

    fn known(&self, key: Key) -> Result<Record> {
        self.find(key).ok_or_else(|| JournalError::Broken("there is no such ask".to_owned()))
    }

    /// The ask with what is found out when it is read.
    fn read(&self, ask: &Ask) -> Record {
        let mut record = ask.record.clone();
        record.outcome.retried_by = self.successor(record.key());
        if record.mark != Mark::Settled {
            record.outcome.answer = ask.partial();
        }
        record
    }

    /// The one that repeats an ask.
    fn successor(&self, key: Key) -> Option<RequestId> {
        let repeats = |ask: &&Ask| {
            ask.record.principal == key.principal
                && ask.record.outcome.retry_of == Some(key.request_id)
        };
        self.asks.values().find(repeats).map(|ask| ask.record.outcome.request_id)
    }

    /// Whether `retry_of` names an own, settled ask of the conversation.
    fn is_settled_before(&self, ask: &NewAsk, retry_of: RequestId) -> bool {
        self.find(Key::new(ask.key.principal, retry_of)).is_some_and(|earlier| {
            earlier.mark == Mark::Settled && earlier.outcome.conversation_id == ask.conversation_id
        })
    }

    /// Whether the conversation has an unsettled ask before `seq`.
    fn has_unsettled(&self, conversation: ConversationKey, seq: u64) -> bool {
        self.turns(conversation, seq).any(|record| record.mark != Mark::Settled)
    }

    /// The asks with a place in a conversation before `seq`, the newest first.
    fn turns(&self, conversation: ConversationKey, seq: u64) -> impl Iterator<Item = Record> {
        let mut turns: Vec<_> = self
            .asks
            .values()
            .filter(|ask| ask.record.conversation() == conversation)
            .filter(|ask| ask.record.outcome.seq.is_some_and(|place| place < seq))
            .collect();
        turns.sort_by_key(|ask| std::cmp::Reverse(ask.record.outcome.seq));
        turns.into_iter().map(|ask| self.read(ask))
    }

    /// In the order of arrival.
    fn in_order(&self, is_wanted: impl Fn(&Record) -> bool) -> Vec<Record> {
        let mut asks: Vec<_> = self.asks.values().filter(|ask| is_wanted(&ask.record)).collect();
        asks.sort_by_key(|ask| ask.arrival);
        asks.into_iter().map(|ask| self.read(ask)).collect()
    }
}

/// All that is known of an id whose ask was never heard of.
fn unheard(key: Key, conversation_id: ConversationId, asked_at: Timestamp) -> Record {
    let mut outcome = Outcome::bare(key.request_id, conversation_id, Status::Pending, None);
    outcome.asked_at = Some(asked_at);
    Record {
        principal: key.principal,
        outcome,
        mark: Mark::Settled,
        fingerprint: None,
        terms: Terms { remember: true, ..Terms::default() },
        submissions: 0,
        starts: 0,
        provider: None,
        deadlines: None,
    }
}

/// Marks an ask as being called. To repeat it is no second start.
fn call(record: &mut Record, start: Start) {
    if !matches!(record.mark, Mark::Calling { .. }) {
        record.starts += 1;
    }
    record.mark = Mark::Calling { billable: start.billable };
    record.outcome.state = Some(State::Running);
    record.provider = Some(start.provider);
    record.deadlines = Some(start.deadlines);
}

impl Ask {
    const fn is_called(&self) -> bool {
        matches!(self.record.mark, Mark::Calling { .. })
    }

    /// The text so far.
    fn partial(&self) -> Option<Answer> {
        let join = |pieces: &Pieces| pieces.values().map(String::as_str).collect::<String>();
        let reasoning = (!self.reasoning.is_empty()).then(|| join(&self.reasoning));
        let text = join(&self.text);
        (!text.is_empty() || reasoning.is_some()).then(|| Answer {
            bytes: text.len() as u64,
            text,
            reasoning,
            ..Answer::default()
        })
    }

    /// Ends it with this outcome, as far as that is about its end: who it is and what it asks stays.
    fn end(&mut self, outcome: Outcome) {
        let receipt = outcome.receipt.unwrap_or_default();
        self.record.mark = Mark::Settled;
        self.record.deadlines = None;
        self.record.submissions = receipt.submissions;
        self.record.provider.clone_from(&receipt.provider);
        self.text.clear();
        self.reasoning.clear();
        let kept = &mut self.record.outcome;
        kept.status = outcome.status;
        kept.state = None;
        kept.settled_at = outcome.settled_at;
        kept.answer = outcome.answer.map(|answer| Answer {
            bytes: answer.text.len() as u64,
            offset: 0,
            ..answer
        });
        kept.error = outcome.error;
        kept.route = outcome.route;
        kept.receipt = Some(receipt);
        kept.capture = outcome.capture;
        kept.context = outcome.context;
        kept.context_missing = outcome.context_missing;
    }
}
