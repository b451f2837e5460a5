//! A case: a policy and steps. Each step is told with the outcome that it is meant to have, so that a
//! blessed file cannot record an accident.

use holdfast_kernel::{
    Acquire, Command, Decision, Event, Fence, Inconsistent, Policy, Refusal, Stamp, Standing, Table,
    Transfer, apply, decide,
};

use crate::support::encode;
use crate::support::json::Json;
use crate::support::make::id;

/// The cases of one file.
pub(crate) struct Topic {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    pub(crate) cases: Vec<Case>,
}

impl Topic {
    pub(crate) fn path(&self) -> String {
        format!("spec/vectors/{}.json", self.name)
    }

    pub(crate) fn json(&self) -> Json {
        Json::object([
            ("topic", Json::text(self.name)),
            ("about", Json::text(self.about)),
            ("cases", Json::list(&self.cases, Case::json)),
        ])
    }
}

pub(crate) struct Case {
    pub(crate) name: &'static str,
    pub(crate) rules: &'static [u32],
    pub(crate) policy: Policy,
    pub(crate) steps: Vec<Step>,
    table: Table,
    current: Policy,
    changed: bool,
    next: Fence,
}

pub(crate) enum Step {
    Command {
        policy: Option<Policy>,
        now: Stamp,
        next: Fence,
        command: Command,
        outcome: Box<Result<Decision, Refusal>>,
    },
    Apply {
        event: Event,
        outcome: Result<(), Inconsistent>,
    },
    Look {
        now: Stamp,
        lease: u128,
        standing: Standing,
    },
}

pub(crate) fn case(name: &'static str, rules: &'static [u32], policy: Policy) -> Case {
    Case {
        name,
        rules,
        current: policy.clone(),
        policy,
        steps: Vec::new(),
        table: Table::new(),
        changed: false,
        next: Fence::FIRST,
    }
}

/// What a step can ask for.
pub(crate) trait Ask {
    fn command(self) -> Command;
}

impl Ask for Command {
    fn command(self) -> Command {
        self
    }
}

impl Ask for Acquire {
    fn command(self) -> Command {
        Command::Acquire(self)
    }
}

impl Ask for Transfer {
    fn command(self) -> Command {
        Command::Transfer(self)
    }
}

impl Case {
    /// Asks for something at a moment. `meant` is the type of the answer or the code of the refusal.
    pub(crate) fn at(mut self, now: Stamp, ask: impl Ask, meant: &str) -> Self {
        let command = ask.command();
        let outcome = decide(&self.table, &self.current, &command, &now, self.next);
        let came = tag(&outcome);
        assert_eq!(came, meant, "step {} of {}: {outcome:?}", self.steps.len() + 1, self.name);
        let policy = std::mem::take(&mut self.changed).then(|| self.current.clone());
        let next = self.next;
        if let Ok(decision) = &outcome {
            decision.events.iter().for_each(|event| apply(&mut self.table, event).unwrap());
            self.next = next.plus(decision.events.len() as u64).unwrap_or(next);
        }
        self.steps.push(Step::Command { policy, now, next, command, outcome: Box::new(outcome) });
        self
    }

    /// Puts an event into the table without asking. `meant` is `applied`, or why it cannot have happened.
    pub(crate) fn offer(mut self, event: Event, meant: &str) -> Self {
        let outcome = apply(&mut self.table, &event);
        let came = outcome.as_ref().map_or_else(encode::inconsistent, |()| Json::text("applied"));
        assert_eq!(came, Json::text(meant), "step {} of {}", self.steps.len() + 1, self.name);
        self.steps.push(Step::Apply { event, outcome });
        self
    }

    /// Looks at a lease. `meant` is the type of its standing.
    pub(crate) fn look(mut self, now: Stamp, lease: u128, meant: &str) -> Self {
        let standing = self.table.get(id(lease)).unwrap().standing(&now);
        assert!(
            encode::standing(&standing).line().contains(&format!("\"type\": \"{meant}\"")),
            "step {} of {}: {standing:?}",
            self.steps.len() + 1,
            self.name
        );
        self.steps.push(Step::Look { now, lease, standing });
        self
    }

    /// From here on under another policy.
    pub(crate) fn under(mut self, policy: Policy) -> Self {
        self.changed = true;
        self.current = policy;
        self
    }

    /// From here on with the counter at another position.
    pub(crate) fn counting_from(mut self, next: u64) -> Self {
        self.next = Fence::new(next).unwrap();
        self
    }

    fn json(&self) -> Json {
        Json::object([
            ("name", Json::text(self.name)),
            ("rules", Json::list(self.rules, |rule| Json::text(format!("L-{rule}")))),
            ("policy", encode::policy(&self.policy)),
            ("steps", Json::list(&self.steps, Step::json)),
        ])
    }
}

fn tag(outcome: &Result<Decision, Refusal>) -> String {
    match outcome {
        Err(refusal) => refusal.code().to_owned(),
        Ok(decision) => {
            let Json::Object(fields) = encode::answer(&decision.answer) else { unreachable!() };
            let Json::Text(tag) = &fields[0].1 else { unreachable!() };
            tag.clone()
        }
    }
}

impl Step {
    fn json(&self) -> Json {
        match self {
            Self::Command { policy, now, next, command, outcome } => {
                let asked = vec![
                    ("now", encode::stamp(now)),
                    ("next", Json::Number(next.get())),
                    ("command", encode::command(command)),
                ];
                let changed = policy.as_ref().map(|policy| ("policy", encode::policy(policy)));
                let fields = changed.into_iter().chain(asked).chain(outcome_fields(outcome));
                Json::Object(fields.map(|(key, value)| (key.to_owned(), value)).collect())
            }
            Self::Apply { event, outcome } => Json::object([
                ("apply", encode::event(event)),
                ("inconsistent", Json::optional(outcome.as_ref().err(), encode::inconsistent)),
            ]),
            Self::Look { now, lease, standing } => Json::object([
                ("now", encode::stamp(now)),
                ("look", Json::text(id(*lease))),
                ("standing", encode::standing(standing)),
            ]),
        }
    }
}

/// What a command came to, as the fields that follow it.
pub(crate) fn outcome_fields(outcome: &Result<Decision, Refusal>) -> Vec<(&'static str, Json)> {
    match outcome {
        Ok(decision) => vec![
            ("events", Json::list(&decision.events, encode::event)),
            ("answer", encode::answer(&decision.answer)),
        ],
        Err(refusal) => vec![("refusal", encode::refusal(refusal))],
    }
}
