//! The history that the register still has, checked link by link.

use holdfast_kernel::{Table, apply};
use holdfast_store::{Checked, Record, Result, read_event};

use super::Shared;
use super::read::Basis;
use crate::head::{Head, Note, StepWire, link};
use crate::register::Found;

impl Shared {
    /// Shows every transition that is still kept to `visit`.
    pub(super) fn replay(&self, visit: &mut dyn FnMut(&Record)) -> Result<Checked> {
        let memory = self.local.memory(&self.sys)?;
        let (Basis { head: last, version, .. }, value) = match &memory.seen {
            Some(seen) if !self.settings.fresh => (self.look(&memory, false)?, seen.head()),
            _ => self.ask(memory.mark().as_ref())?,
        };
        let found = Found { version, value };
        let past = self.register.past(&found).map_err(|error| self.unavailable(&error.0))?;
        let first = Head::decode(&past.first, &self.register.place())?;
        let mut table = first.table().map_err(|error| self.odd(&error))?;
        let (mut chain, mut next) = (first.chain.clone(), first.next);
        let mut checked = Checked { segments: 1, records: 0, torn_bytes: 0 };
        for bytes in &past.steps {
            let step: StepWire = serde_json::from_slice(bytes).map_err(|error| self.odd(&error))?;
            for raw in &step.events {
                let (number, event) = read_event(raw.get().as_bytes()).map_err(|error| self.odd(&error))?;
                if number != next {
                    return Err(self.odd(&format_args!("number {number} stands where {next} belongs")));
                }
                let record =
                    Record::of(number, &event, &table).ok_or_else(|| self.odd(&"a step does not fit"))?;
                visit(&record);
                apply(&mut table, &event).map_err(|error| self.odd(&error))?;
                next = number.plus(1).ok_or(holdfast_kernel::Refusal::FencesExhausted)?;
                checked.records += 1;
            }
            if step.notes.iter().any(|note| matches!(note, Note::Recovered { .. })) {
                table = Table::new();
            }
            chain = link(&chain, bytes);
        }
        let same = chain == last.chain && next == last.next && last.table().is_ok_and(|kept| kept == table);
        if same { Ok(checked) } else { Err(self.odd(&"its history does not lead to it")) }
    }
}
