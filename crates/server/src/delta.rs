//! What has changed between two boards, so that a page that has the first can make the second of it: an event has a hundred
//! pages look at once, and a board of ten thousand issues is megabytes.

use holdfast_tracker::answers::board::{BoardOutput, View};
use serde::Serialize;
use serde_json::json;
use serde_json::value::RawValue;

/// What every card begins with; its id follows.
const BEGIN: &str = "{\"id\":\"";
/// The longest one that is sent: pages ask for a board that differs in more.
const LONGEST: usize = 64 << 10;

/// The cards of a board: their ids, in order, and what tells each of them from others.
pub(crate) struct Cards(Vec<(Box<str>, [u8; 32])>);

/// What has changed.
#[derive(Serialize)]
struct Delta<'a> {
    /// The tag of the board before.
    from: &'a str,
    /// The tag of the board that comes of it.
    to: &'a str,
    /// The issues that are not there any more.
    gone: Vec<&'a str>,
    /// The board, with those issues alone that have changed.
    board: &'a View<Box<RawValue>>,
}

impl Cards {
    /// The cards of a board.
    pub(crate) fn of(document: &BoardOutput) -> Self {
        let known = |card: &RawValue| (id(card).into(), *blake3::hash(card.get().as_bytes()).as_bytes());
        Self(document.board.issues.iter().map(|card| known(card)).collect())
    }

    /// What makes the board with the tag `to`, which has the cards of `now`, of the one with the tag `from`, which had these.
    /// Where that is too much it says no more than that there is another one.
    pub(crate) fn delta(
        &self,
        now: &Self,
        mut document: BoardOutput,
        from: &str,
        to: &str,
    ) -> serde_json::Result<String> {
        let find = |cards: &'_ Self, id: &str| cards.0.binary_search_by(|(known, _)| (**known).cmp(id)).ok();
        let gone = self.0.iter().map(|(id, _)| &**id).filter(|id| find(now, id).is_none()).collect();
        let mut changed = now.0.iter().map(|(id, hash)| {
            let before = find(self, id).and_then(|at| self.0.get(at));
            before.is_none_or(|(_, before)| before != hash)
        });
        document.board.issues.retain(|_| changed.next().unwrap_or(true));
        let text = serde_json::to_string(&Delta { from, to, gone, board: &document.board })?;
        if text.len() <= LONGEST { Ok(text) } else { serde_json::to_string(&json!({ "to": to })) }
    }
}

/// The id of a card. One without would be taken for another one, so it is told apart by all that it says.
fn id(card: &RawValue) -> &str {
    let text = card.get();
    text.strip_prefix(BEGIN).and_then(|rest| rest.split('"').next()).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn board(cards: &[(u32, &str)]) -> BoardOutput {
        let card = |(number, title): &(u32, &str)| {
            let text = format!("{{\"id\":\"{number:026}\",\"title\":\"{title}\"}}");
            RawValue::from_string(text).unwrap()
        };
        BoardOutput {
            board: View {
                at: "now".to_owned(),
                agent_id: None,
                worktree_id: None,
                issues: cards.iter().map(card).collect(),
                count: cards.len(),
                unreadable: 0,
                agents: Vec::new(),
                attention: Vec::new(),
                worktrees: Vec::new(),
                pools: Vec::new(),
            },
        }
    }

    fn between(before: &[(u32, &str)], after: &[(u32, &str)]) -> serde_json::Value {
        let (before, after) = (board(before), board(after));
        let cards = Cards::of(&after);
        let text = Cards::of(&before).delta(&cards, after, "one", "two").unwrap();
        serde_json::from_str(&text).unwrap()
    }

    fn numbers(cards: &serde_json::Value) -> Vec<u32> {
        let id = |card: &serde_json::Value| card.get("id").unwrap_or(card).as_str().unwrap().parse().unwrap();
        cards.as_array().unwrap().iter().map(id).collect()
    }

    #[test]
    fn what_came_changed_and_went_is_told_and_nothing_else() {
        let told =
            between(&[(1, "a"), (2, "b"), (4, "d"), (9, "z")], &[(2, "b"), (3, "c"), (4, "D"), (9, "z")]);
        assert_eq!((told["from"].as_str(), told["to"].as_str()), (Some("one"), Some("two")));
        assert_eq!((numbers(&told["gone"]), numbers(&told["board"]["issues"])), (vec![1], vec![3, 4]));
        assert_eq!(told["board"]["count"], 4);
    }

    #[test]
    fn too_much_is_not_told() {
        let many: Vec<(u32, &str)> =
            (0..2_000).map(|number| (number, "a title that is of some length")).collect();
        assert_eq!(between(&[], &many), json!({ "to": "two" }));
        assert_eq!(numbers(&between(&many, &many)["board"]["issues"]), Vec::<u32>::new());
    }
}
