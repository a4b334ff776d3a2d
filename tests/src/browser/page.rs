//! The page as a person sees it: the composer, the turns, the status line; and the pointers that
//! protocol § 11 promises.

use std::collections::BTreeMap;

use fantoccini::elements::{Element, ElementRef};
use serde_json::{Value, json};

use super::command::Command;
use super::{Browser, done};

/// What kind of control something is to assistive technology.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Something to write in.
    Textbox,
    /// Something to search with.
    Searchbox,
    /// Something to press.
    Button,
    /// Something to go somewhere by.
    Link,
}

impl Role {
    /// What can have this role at all; the browser's own computation then decides.
    fn candidates(self) -> &'static str {
        match self {
            Role::Textbox => "textarea, input, [contenteditable], [role=textbox]",
            Role::Searchbox => "input[type=search], [role=searchbox]",
            Role::Button => "button, [role=button], input[type=submit], summary",
            Role::Link => "a[href], [role=link]",
        }
    }

    fn name(self) -> &'static str {
        match self {
            Role::Textbox => "textbox",
            Role::Searchbox => "searchbox",
            Role::Button => "button",
            Role::Link => "link",
        }
    }
}

/// One turn as it stands on the page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Turn {
    /// `data-request-id`.
    pub request_id: String,
    /// `data-status`.
    pub status: String,
    /// `data-recovered="true"`.
    pub recovered: bool,
    /// All its visible text: the question, the answer, what is said about them.
    pub text: String,
}

/// What may have that name, wherever a name can come from: a list has hundreds of controls, and to
/// have the browser compute the name of each would take longer than what is tested.
const CANDIDATES: &str = "const [candidates, name] = arguments;
    const texts = e => [e.ariaLabel, e.title, e.value, e.placeholder, e.textContent,
        ...[...(e.labels ?? [])].map(it => it.textContent),
        ...(e.getAttribute('aria-labelledby') ?? '').split(' ')
            .map(id => document.getElementById(id)?.textContent)];
    return [...document.querySelectorAll(candidates)].filter(e =>
        e.checkVisibility() && texts(e).some(text => String(text ?? '').includes(name)));";
/// Under it, `WebDriver` names an element.
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";

/// Reads every turn; must not throw, whatever the page is going through.
const TURNS: &str = "return [...document.querySelectorAll('article[data-request-id]')].map(a => ({
    id: a.dataset.requestId, status: a.dataset.status ?? '',
    recovered: a.dataset.recovered === 'true', text: a.innerText}));";

impl Browser {
    /// The visible control of that role and accessible name, if there is one.
    pub async fn find(&self, role: Role, name: &str) -> Option<Element> {
        let arguments = vec![json!(role.candidates()), json!(name)];
        let candidates = self.client.execute(CANDIDATES, arguments).await.ok()?;
        for candidate in candidates.as_array()? {
            let id = candidate.get(ELEMENT)?.as_str()?.to_owned();
            let element = Element::from_element_id(self.client.clone(), ElementRef::from(id));
            // The page may take a control away between two looks at it: then it is not there.
            let shown = element.is_displayed().await.unwrap_or(false);
            if shown
                && self.computed(&element, "computedrole").await == role.name()
                && self.computed(&element, "computedlabel").await == name
            {
                return Some(element);
            }
        }
        None
    }

    async fn computed(&self, element: &Element, what: &str) -> String {
        let path = format!("element/{}/{what}", element.element_id().as_ref());
        let computed = self.client.issue_cmd(Command::get(&path)).await;
        computed.ok().and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_default()
    }

    /// The control of that role and name, once it is there.
    pub async fn control(&self, role: Role, name: &str) -> Element {
        let what = format!("the {} “{name}”", role.name());
        self.wait_for(&what, async |page| page.find(role, name).await).await
    }

    /// Presses the button of that name, once it is there and enabled.
    pub async fn click(&self, name: &str) {
        let what = format!("the button “{name}”, to be pressed");
        self.wait_for(&what, async |page| {
            let button = page.find(Role::Button, name).await?;
            if !button.is_enabled().await.ok()? {
                return None;
            }
            // It may be replaced or covered at this very moment: look again.
            button.click().await.ok()
        })
        .await;
    }

    /// Whether the button of that name is there and can be pressed.
    pub async fn can_press(&self, name: &str) -> bool {
        match self.find(Role::Button, name).await {
            Some(button) => button.is_enabled().await.unwrap_or(false),
            None => false,
        }
    }

    /// Types into the composer, after what is in it.
    pub async fn write(&self, question: &str) {
        let composer = self.control(Role::Textbox, "Question").await;
        done("write a question", composer.send_keys(question).await);
    }

    /// What is in the composer.
    pub async fn composer(&self) -> String {
        let composer = self.control(Role::Textbox, "Question").await;
        done("read the composer", composer.prop("value").await).unwrap_or_default()
    }

    /// Asks by typing and pressing “Send”, and waits for the turn.
    pub async fn ask(&self, question: &str) -> Turn {
        self.write(question).await;
        self.click("Send").await;
        self.turn_of(question).await
    }

    /// All turns, from top to bottom.
    pub async fn turns(&self) -> Vec<Turn> {
        // While a document is being replaced there are none.
        let turns = self.client.execute(TURNS, Vec::new()).await.unwrap_or_default();
        turns.as_array().map(|turns| turns.iter().map(turn).collect()).unwrap_or_default()
    }

    /// The first turn whose text contains this, once it is there.
    pub async fn turn_of(&self, text: &str) -> Turn {
        let what = format!("a turn with “{text}”");
        self.wait_for(&what, async |page| {
            page.turns().await.into_iter().find(|turn| turn.text.contains(text))
        })
        .await
    }

    /// The turn of an ask, once it fulfils a condition.
    pub async fn turn_when(
        &self,
        what: &str,
        request_id: &str,
        condition: impl Fn(&Turn) -> bool,
    ) -> Turn {
        self.wait_for(what, async |page| {
            let turns = page.turns().await;
            turns.into_iter().find(|turn| turn.request_id == request_id && condition(turn))
        })
        .await
    }

    /// The turn of an ask, once it has that status and contains that text.
    pub async fn turn_with(&self, request_id: &str, status: &str, text: &str) -> Turn {
        let what = format!("{request_id} {status} with “{text}”");
        self.turn_when(&what, request_id, |turn| turn.status == status && turn.text.contains(text))
            .await
    }

    /// The pointers that this tab keeps, by their ask; empty where storage cannot be read.
    pub async fn pointers(&self) -> BTreeMap<String, Value> {
        let read = "try { return JSON.parse(sessionStorage.getItem('holdfast.pending') ?? '[]') }
                    catch { return [] }";
        let pointers = self.client.execute(read, Vec::new()).await.unwrap_or_default();
        let pointers = pointers.as_array().cloned().unwrap_or_default();
        pointers
            .into_iter()
            .map(|pointer| {
                let id = pointer.get("request_id").and_then(Value::as_str).unwrap_or_default();
                (id.to_owned(), pointer)
            })
            .collect()
    }

    /// Waits until this tab keeps no pointer.
    pub async fn no_pointers(&self) {
        self.wait_for("no pointer left", async |page| {
            page.pointers().await.is_empty().then_some(())
        })
        .await;
    }

    /// The text of the status regions.
    pub async fn status(&self) -> String {
        let read = "return [...document.querySelectorAll('[role=status]')]
            .map(e => e.textContent.trim()).join('\\n')";
        let status = self.client.execute(read, Vec::new()).await.unwrap_or_default();
        status.as_str().unwrap_or_default().to_owned()
    }

    /// All visible text of the page.
    pub async fn text(&self) -> String {
        let text = self.client.execute("return document.body?.innerText ?? ''", Vec::new()).await;
        text.ok().and_then(|text| text.as_str().map(str::to_owned)).unwrap_or_default()
    }

    /// Waits until this text is on the page.
    pub async fn see(&self, text: &str) {
        let what = format!("“{text}”");
        self.wait_for(&what, async |page| page.text().await.contains(text).then_some(())).await;
    }

    /// What is on the page, for the message of a test that fails.
    pub(super) async fn describe(&self) -> String {
        format!(
            "turns: {:#?}\npointers: {}\nstatus: {}\npage:\n{}",
            self.turns().await,
            json!(self.pointers().await),
            self.status().await,
            self.text().await,
        )
    }
}

fn turn(turn: &Value) -> Turn {
    let text = |name: &str| turn.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    Turn {
        request_id: text("id"),
        status: text("status"),
        recovered: turn.get("recovered") == Some(&Value::Bool(true)),
        text: text("text"),
    }
}
