//! wasm-opt, also where it is older than version 110, as in Debian 12. Those write every exported
//! table as table 0 (WebAssembly/binaryen#4711), so that the page's glue is handed the table of
//! functions instead of `__wbindgen_externrefs`, and stops before the first line. Here belongs what
//! xtask does where it stands in for wasm-opt: the same to every part of the page, and that one export
//! set right. Not here: installing one.

use std::fs;
use std::path::Path;
use std::process::ExitCode;

use crate::failure::{Context as _, Failure, Result};
use crate::folder::read;
use crate::split::{self, Parts};
use crate::stand_in::StandIn;

/// The export of wasm-bindgen that the glue fills when the module starts.
const EXPORT: &[u8] = b"__wbindgen_externrefs";

/// Stands in: runs the real one with the same arguments, once for each part of the page, and repairs
/// what it wrote.
pub(crate) fn run(arguments: &[String]) -> Result<ExitCode> {
    let input = arguments.iter().find(|argument| split::is_module(argument));
    let (Some(input), Some(output)) = (input, output(arguments)) else {
        // Asked for its version, say.
        let failed = StandIn::WasmOpt.run_real(arguments)?;
        return Ok(failed.unwrap_or(ExitCode::SUCCESS));
    };
    if let Some(failed) = optimise(arguments)? {
        return Ok(failed);
    }
    repair_file(Path::new(output))?;
    let parts = Parts::of_this_build()?;
    split::empty(&parts.optimised)?;
    for part in split::modules(&parts.split)? {
        let (from, to) = (parts.split.join(&part), parts.optimised.join(&part));
        let arguments = arguments.iter().map(|argument| {
            argument
                .replace(output, &to.display().to_string())
                .replace(input.as_str(), &from.display().to_string())
        });
        if let Some(failed) = optimise(&arguments.collect::<Vec<_>>())? {
            return Ok(failed);
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn optimise(arguments: &[String]) -> Result<Option<ExitCode>> {
    StandIn::WasmOpt.run_real(arguments)
}

fn repair_file(file: &Path) -> Result<()> {
    let mut module = read(file)?;
    if repair(&mut module).ok_or_else(|| Failure::new("wasm-opt wrote no module"))? {
        fs::write(file, module).doing(format_args!("write {}", file.display()))?;
    }
    Ok(())
}

fn output(arguments: &[String]) -> Option<&str> {
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        if argument == "-o" || argument == "--output" {
            return arguments.next().map(String::as_str);
        }
        if let Some(file) = argument.strip_prefix("--output=") {
            return Some(file);
        }
    }
    None
}

/// Makes the export name the only table of external references. Whether that changed anything;
/// `None` for bytes that are no module. Imported tables would shift the count: wasm-bindgen imports
/// none.
fn repair(module: &mut [u8]) -> Option<bool> {
    let mut reader = Reader { bytes: module, at: 0 };
    (reader.take(4)? == b"\0asm").then_some(())?;
    reader.take(4)?;
    let mut externs = Vec::new();
    let mut tables = 0;
    let mut named_at = None;
    while reader.at < reader.bytes.len() {
        let section = reader.byte()?;
        let size = reader.number()?;
        let end = reader.at + size;
        match section {
            4 => {
                for _ in 0..reader.number()? {
                    if reader.byte()? == 0x6f {
                        externs.push(tables);
                    }
                    let has_maximum = reader.byte()? & 1 == 1;
                    reader.number()?;
                    if has_maximum {
                        reader.number()?;
                    }
                    tables += 1;
                }
            }
            7 => {
                for _ in 0..reader.number()? {
                    let length = reader.number()?;
                    let is_named = reader.take(length)? == EXPORT;
                    let is_table = reader.byte()? == 1;
                    if is_named && is_table {
                        named_at = Some(reader.at);
                    }
                    reader.number()?;
                }
            }
            _ => {}
        }
        reader.at = end;
    }
    // One byte each: an index below 128 is its own encoding.
    let (Some(at), [extern_table]) = (named_at, &*externs) else {
        return Some(false);
    };
    let index = module.get_mut(at)?;
    let right = u8::try_from(*extern_table).ok().filter(|index| *index < 0x80)?;
    let changes = *index != right;
    *index = right;
    Some(changes)
}

/// Reads the binary format of WebAssembly.
#[derive(Debug)]
struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let taken = self.bytes.get(self.at..self.at.checked_add(length)?)?;
        self.at += length;
        Some(taken)
    }

    fn byte(&mut self) -> Option<u8> {
        self.take(1)?.first().copied()
    }

    /// An unsigned LEB128 of up to 32 bits.
    fn number(&mut self) -> Option<usize> {
        let mut number = 0;
        for shift in (0..35).step_by(7) {
            let byte = self.byte()?;
            number |= usize::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(number);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use super::*;

    /// A module with a table of functions, then one of external references if `externs`, that
    /// exports table `index` under `name`.
    fn module(externs: bool, name: &[u8], index: u8) -> Vec<u8> {
        let mut tables = vec![1, 0x70, 1, 144, 1, 144, 1];
        if externs {
            tables = vec![2, 0x70, 1, 144, 1, 144, 1, 0x6f, 0, 132, 8];
        }
        let length = u8::try_from(name.len()).unwrap();
        let exports = [&[2, 6], &b"memory"[..], &[2, 0, length], name, &[1, index]].concat();
        let custom = b"\x04nameabcd";
        let mut module = b"\0asm\x01\0\0\0".to_vec();
        for (id, section) in [(0, &custom[..]), (4, &tables), (7, &exports)] {
            module.extend([id, u8::try_from(section.len()).unwrap()]);
            module.extend(section);
        }
        module
    }

    #[test]
    fn sets_the_export_right() {
        let mut wrong = module(true, EXPORT, 0);
        assert_eq!(repair(&mut wrong), Some(true));
        assert_eq!(wrong, module(true, EXPORT, 1));
        assert_eq!(repair(&mut wrong), Some(false));
    }

    #[test]
    fn leaves_every_other_module_as_it_is() {
        for same in [module(false, EXPORT, 0), module(true, b"another table exported", 0)] {
            let mut repaired = same.clone();
            assert_eq!(repair(&mut repaired), Some(false));
            assert_eq!(repaired, same);
        }
    }

    #[test]
    fn refuses_what_is_no_module() {
        let whole = module(true, EXPORT, 0);
        assert_eq!(repair(&mut b"<!doctype html>".to_vec()), None);
        assert_eq!(repair(&mut []), None);
        for cut in 9..whole.len() {
            let mut part = whole.get(..cut).unwrap().to_vec();
            assert_ne!(repair(&mut part), Some(true), "cut at {cut}");
        }
    }

    #[test]
    fn reads_outputs() {
        for line in ["--output=out.wasm -Oz in.wasm", "-Oz in.wasm -o out.wasm"] {
            let arguments: Vec<_> = line.split(' ').map(str::to_owned).collect();
            assert_eq!(output(&arguments), Some("out.wasm"));
        }
        assert_eq!(output(&["--version".to_owned()]), None);
    }
}
