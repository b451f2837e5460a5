//! The vectors' form back into the kernel's types, from the JSON alone.

use holdfast_kernel::{
    Acquire, Again, Boot, BootId, Cause, Claim, Command, Event, Fence, Holder, KindRule, Lease, LeaseId,
    Limits, Millis, Mode, Name, Pattern, Policy, Request, Resource, Stamp, Tags, Term, Text, Transfer,
    TtlRange,
};
use serde_json::Value;

fn number(value: &Value) -> u64 {
    value.as_u64().filter(|n| *n < 1 << 53).unwrap_or_else(|| panic!("{value} is no number"))
}

fn string(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("{value} is no text"))
}

fn millis(value: &Value) -> Millis {
    Millis::new(number(value))
}

fn optional<T>(value: &Value, decode: impl Fn(&Value) -> T) -> Option<T> {
    (!value.is_null()).then(|| decode(value))
}

fn resource(value: &Value) -> Resource {
    match value.get("pattern") {
        Some(pattern) => Pattern::new(string(pattern)).unwrap().into(),
        None => name(value).into(),
    }
}

fn name(value: &Value) -> Name {
    Name::new(string(value)).unwrap()
}

fn text(value: &Value) -> Text {
    Text::new(string(value)).unwrap()
}

pub(crate) fn id(value: &Value) -> LeaseId {
    string(value).parse().unwrap()
}

pub(crate) fn fence(value: &Value) -> Fence {
    Fence::new(number(value)).unwrap()
}

fn holder(value: &Value) -> Holder {
    Holder { agent: name(&value["agent"]), place: name(&value["place"]) }
}

fn mode(value: &Value) -> Mode {
    match string(value) {
        "exclusive" => Mode::Exclusive,
        "shared" => Mode::Shared,
        other => panic!("no mode is called {other}"),
    }
}

fn tags(value: &Value) -> Tags {
    let tags = value.as_object().unwrap().iter();
    tags.fold(Tags::none(), |tags, (key, value)| tags.with(key, text(value)).unwrap())
}

pub(crate) fn stamp(value: &Value) -> Stamp {
    let boot = |boot: &Value| {
        assert_eq!(string(&boot["id"]).len(), 32, "a boot id has 32 hex digits");
        let id = u128::from_str_radix(string(&boot["id"]), 16).unwrap();
        Boot { id: BootId::new(id), ms: number(&boot["ms"]) }
    };
    Stamp::new(number(&value["wall_ms"]).cast_signed(), optional(&value["boot"], boot)).unwrap()
}

fn rule(value: &Value) -> KindRule {
    let ttl = &value["ttl"];
    KindRule {
        ttl: TtlRange { min: millis(&ttl["min_ms"]), max: millis(&ttl["max_ms"]) },
        indefinite: value["indefinite"].as_bool().unwrap(),
    }
}

pub(crate) fn policy(value: &Value) -> Policy {
    let limits = &value["limits"];
    let limit = |key| optional(&limits[key], |n| u32::try_from(number(n)).unwrap()).unwrap_or(u32::MAX);
    Policy {
        again: match string(&value["again"]) {
            "return" => Again::Return,
            "refuse" => Again::Refuse,
            other => panic!("nothing is done {other}"),
        },
        rule: rule(&value["rule"]),
        kinds: value["kinds"]
            .as_object()
            .unwrap()
            .iter()
            .map(|(kind, one)| (kind.clone(), rule(one)))
            .collect(),
        skew: millis(&value["skew_ms"]),
        grace: millis(&value["grace_ms"]),
        stale_after: millis(&value["stale_after_ms"]),
        limits: Limits {
            leases_per_agent: limit("leases_per_agent"),
            leases_per_table: limit("leases_per_table"),
            indefinite_per_agent: limit("indefinite_per_agent"),
            indefinite_per_table: limit("indefinite_per_table"),
        },
    }
}

pub(crate) fn command(value: &Value) -> Command {
    let lease = || id(&value["lease"]);
    let by = || holder(&value["holder"]);
    match string(&value["type"]) {
        "acquire" => Command::Acquire(acquire(value)),
        "renew" => Command::Renew { lease: lease(), holder: by(), ttl: optional(&value["ttl_ms"], millis) },
        "beat" => Command::Beat { lease: lease(), holder: by() },
        "release" => Command::Release { lease: lease(), holder: by() },
        "transfer" => Command::Transfer(Transfer {
            lease: lease(),
            holder: by(),
            id: id(&value["id"]),
            to: holder(&value["to"]),
            reason: text(&value["reason"]),
            tags: tags(&value["tags"]),
        }),
        "evict" => {
            Command::Evict { lease: lease(), by: holder(&value["by"]), reason: text(&value["reason"]) }
        }
        "sweep" => Command::Sweep,
        "check" => Command::Check(Claim {
            resource: resource(&value["resource"]),
            lease: lease(),
            holder: by(),
            fence: fence(&value["fence"]),
        }),
        other => panic!("no command is called {other}"),
    }
}

fn acquire(value: &Value) -> Acquire {
    let request = &value["request"];
    Acquire {
        id: id(&value["id"]),
        resource: resource(&value["resource"]),
        holder: holder(&value["holder"]),
        mode: mode(&value["mode"]),
        request: match string(&request["type"]) {
            "finite" => Request::Finite(millis(&request["ttl_ms"])),
            "indefinite" => Request::Indefinite,
            other => panic!("no request is called {other}"),
        },
        reason: optional(&value["reason"], text),
        tags: tags(&value["tags"]),
        dead: value["dead"].as_array().unwrap().iter().map(id).collect(),
    }
}

fn lease(value: &Value) -> Lease {
    let term = &value["term"];
    Lease {
        id: id(&value["id"]),
        resource: resource(&value["resource"]),
        holder: holder(&value["holder"]),
        mode: mode(&value["mode"]),
        fence: fence(&value["fence"]),
        granted: stamp(&value["granted"]),
        term: match string(&term["type"]) {
            "finite" => Term::Finite { ttl: millis(&term["ttl_ms"]), from: stamp(&term["from"]) },
            "indefinite" => {
                Term::Indefinite { beat: stamp(&term["beat"]), stale_after: millis(&term["stale_after_ms"]) }
            }
            other => panic!("no term is called {other}"),
        },
        skew: millis(&value["skew_ms"]),
        grace: millis(&value["grace_ms"]),
        reason: optional(&value["reason"], text),
        tags: tags(&value["tags"]),
    }
}

pub(crate) fn event(value: &Value) -> Event {
    let about = || id(&value["lease"]);
    let at = || stamp(&value["at"]);
    match string(&value["type"]) {
        "granted" => Event::Granted { lease: lease(&value["lease"]) },
        "renewed" => Event::Renewed { lease: about(), ttl: millis(&value["ttl_ms"]), at: at() },
        "beaten" => Event::Beaten { lease: about(), at: at() },
        "released" => Event::Released { lease: about(), at: at() },
        "transferred" => Event::Transferred {
            from: id(&value["from"]),
            lease: lease(&value["lease"]),
            why: text(&value["why"]),
        },
        "evicted" => Event::Evicted { lease: about(), at: at(), cause: cause(&value["cause"]) },
        other => panic!("no event is called {other}"),
    }
}

fn cause(value: &Value) -> Cause {
    match string(&value["type"]) {
        "expired" => Cause::Expired,
        "dead" => Cause::Dead,
        "forced" => Cause::Forced { by: holder(&value["by"]), reason: text(&value["reason"]) },
        other => panic!("no cause is called {other}"),
    }
}
