//! `cargo xtask picture`: what `jit demo` shows in a terminal, as a drawing that moves: every line comes when it came. It is
//! recorded from the real program, and needs no script to be looked at.

use std::fmt::Write as _;
use std::path::Path;

use crate::child::Child;
use crate::package::{root::Scratch, write};
use crate::programs;

const PLACE: &str = "docs/pictures/demo.svg";
const COLUMNS: usize = 100;
/// Lines that are seen at once; those above have scrolled away.
const ROWS: usize = 24;
const LINE: usize = 19;
const LETTER: f64 = 8.43;
const MARGIN: usize = 16;
/// Seconds that the end is looked at before it begins again.
const HOLD: f64 = 6.0;
/// Colours of a terminal on a dark ground, in the order of their numbers.
const COLOURS: [&str; 8] =
    ["#6e7681", "#ff7b72", "#7ee787", "#e3b341", "#79c0ff", "#d2a8ff", "#76e3ea", "#e6edf3"];

/// A line and the moment at which it was there, in seconds.
struct Line {
    at: f64,
    text: String,
}

/// Records `jit demo` and draws it.
#[must_use]
pub fn run(root: &Path) -> bool {
    let done = record(root).and_then(|lines| write(&root.join(PLACE), draw(&lines).as_bytes()));
    match &done {
        Ok(()) => println!("{PLACE}"),
        Err(why) => eprintln!("{why}"),
    }
    done.is_ok()
}

/// Runs it in a terminal that `script` makes, and keeps what came when.
fn record(root: &Path) -> Result<Vec<Line>, String> {
    let jit = programs::to_test(root, "jit").ok_or("jit does not build")?;
    let scratch = Scratch::new(&std::env::temp_dir(), "picture")?;
    let typed = format!("stty cols {COLUMNS} rows {ROWS}; exec '{jit}' demo");
    let words = ["-q", "-e", "-m", "classic", "-O", "said", "-T", "times", "-c", &typed];
    let child =
        Child::new(scratch.path(), "script", &words).env("TERM", "xterm-256color").env("TMPDIR", "/tmp");
    let ended = child.env("COLORTERM", "").quiet().run();
    if !ended.ok {
        return Err(format!(
            "`jit demo` in a terminal (script, of util-linux) {}: {}",
            ended.how,
            ended.err.trim()
        ));
    }
    let read = |name: &str| {
        let path = scratch.path().join(name);
        std::fs::read(&path).map_err(|why| format!("{}: {why}", path.display()))
    };
    let (said, times) = (read("said")?, read("times")?);
    lines(&said, &String::from_utf8_lossy(&times))
}

/// Puts what was said and when together: each entry has the seconds that passed and the bytes that came.
fn lines(said: &[u8], times: &str) -> Result<Vec<Line>, String> {
    // The first line of a recording is `script`'s own.
    let start = said.iter().position(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    let mut rest = said.get(start..).ok_or("nothing was said")?;
    let (mut now, mut open, mut lines) = (0.0_f64, Vec::new(), Vec::new());
    for entry in times.lines() {
        let (passed, bytes) = entry.split_once(' ').ok_or_else(|| format!("no time: {entry}"))?;
        let passed: f64 = passed.parse().map_err(|_| format!("no time: {entry}"))?;
        let bytes: usize = bytes.parse().map_err(|_| format!("no length: {entry}"))?;
        now += passed;
        let (piece, after) = rest.split_at_checked(bytes).unwrap_or((rest, &[]));
        rest = after;
        for byte in piece {
            match byte {
                b'\n' => {
                    let text = String::from_utf8_lossy(&std::mem::take(&mut open)).into_owned();
                    lines.push(Line { at: now, text });
                }
                b'\r' => {}
                byte => open.push(*byte),
            }
        }
    }
    if lines.is_empty() { Err("the recording is empty".into()) } else { Ok(lines) }
}

/// The drawing. Without movement, for whoever wants none, it shows how it ended.
fn draw(lines: &[Line]) -> String {
    let seconds = lines.last().map_or(0.0, |line| line.at) + HOLD;
    let part = |at: f64| at / seconds * 100.0;
    let (width, height) = (drawn_width(), ROWS * LINE + 2 * MARGIN + LINE);
    let (mut rules, mut texts) = (String::new(), String::new());
    let mut scrolled = String::from("0%{transform:none}");
    for (number, line) in lines.iter().enumerate() {
        let _ = writeln!(rules, "@keyframes l{number}{{0%{{opacity:0}}{:.2}%{{opacity:1}}}}", part(line.at));
        let y = MARGIN + LINE + (number + 1) * LINE;
        let _ = writeln!(
            texts,
            "<text y=\"{y}\" style=\"animation-name:l{number}\">{}</text>",
            spans(&line.text)
        );
        let above = (number + 1).saturating_sub(ROWS);
        if above > 0 {
            let _ = write!(scrolled, "{:.2}%{{transform:translateY(-{}px)}}", part(line.at), above * LINE);
        }
    }
    let end = lines.len().saturating_sub(ROWS) * LINE;
    let top = MARGIN + LINE;
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" role=\"img\" \
         aria-label=\"jit demo in a terminal: four workers, one is put to sleep, one is killed, and nothing is lost or done twice\">\n\
         <style>\ntext{{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace;fill:#e6edf3;white-space:pre;\
         animation:{seconds:.2}s step-end infinite}}\n.all{{transform:translateY(-{end}px);animation:all {seconds:.2}s step-end infinite}}\n\
         @keyframes all{{{scrolled}100%{{transform:translateY(-{end}px)}}}}\n{rules}\
         .b{{font-weight:bold}}.d{{opacity:.65}}\n\
         @media (prefers-reduced-motion:reduce){{text,.all{{animation:none}}}}\n</style>\n\
         <rect width=\"{width}\" height=\"{height}\" rx=\"8\" fill=\"#0d1117\"/>\n\
         <circle cx=\"20\" cy=\"17\" r=\"5\" fill=\"#ff5f57\"/><circle cx=\"38\" cy=\"17\" r=\"5\" fill=\"#febc2e\"/>\
         <circle cx=\"56\" cy=\"17\" r=\"5\" fill=\"#28c840\"/>\n\
         <clipPath id=\"c\"><rect y=\"{top}\" width=\"{width}\" height=\"{}\"/></clipPath>\n\
         <g clip-path=\"url(#c)\"><g class=\"all\"><g transform=\"translate({MARGIN} 0)\">\n{texts}</g></g></g>\n</svg>\n",
        ROWS * LINE + LINE / 2
    )
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "a width in pixels"
)]
fn drawn_width() -> usize {
    (COLUMNS as f64 * LETTER) as usize + 2 * MARGIN
}

/// A line with its colours. Other marks of a terminal are left out.
fn spans(line: &str) -> String {
    let mut out = String::new();
    let (mut colour, mut bold, mut dim) = (None::<&str>, false, false);
    let mut pieces = line.split("\u{1b}[");
    let mut put = |text: &str, colour: Option<&str>, bold: bool, dim: bool| {
        if text.is_empty() {
            return;
        }
        let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        let class = match (bold, dim) {
            (false, false) => "",
            (true, false) => " class=\"b\"",
            (false, true) => " class=\"d\"",
            (true, true) => " class=\"b d\"",
        };
        let fill =
            colour.map(|colour| format!(" fill=\"{colour}\" style=\"fill:{colour}\"")).unwrap_or_default();
        if class.is_empty() && fill.is_empty() {
            out.push_str(&text);
        } else {
            let _ = write!(out, "<tspan{class}{fill}>{text}</tspan>");
        }
    };
    put(pieces.next().unwrap_or(line), None, false, false);
    for piece in pieces {
        let end = piece.find(|letter: char| letter.is_ascii_alphabetic()).unwrap_or(0);
        let (codes, rest) = piece.split_at(end);
        if rest.starts_with('m') {
            for code in codes.split(';') {
                match code.parse().unwrap_or(0_usize) {
                    0 => (colour, bold, dim) = (None, false, false),
                    1 => bold = true,
                    2 => dim = true,
                    22 => (bold, dim) = (false, false),
                    39 => colour = None,
                    code @ (30..=37 | 90..=97) => colour = COLOURS.get(code % 10).copied(),
                    _ => {}
                }
            }
        }
        put(rest.get(1..).unwrap_or_default(), colour, bold, dim);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_comes_when_its_end_came() {
        let said = b"Script started\nA \x1b[31mred\x1b[0m <b>\r\nB\r\n";
        let recorded = lines(said, "0.5 3\n1.0 17\n0.25 3\n").unwrap();
        let told: Vec<(f64, &str)> = recorded.iter().map(|line| (line.at, line.text.as_str())).collect();
        assert_eq!(told, [(1.5, "A \u{1b}[31mred\u{1b}[0m <b>"), (1.75, "B")]);
        let picture = draw(&recorded);
        assert!(
            picture.contains("A <tspan fill=\"#ff7b72\" style=\"fill:#ff7b72\">red</tspan> &lt;b&gt;</text>"),
            "{picture}"
        );
        assert!(!picture.contains("<script"), "{picture}");
        assert_eq!(picture.matches("@keyframes l").count(), 2);
        assert!(lines(b"", "").is_err());
    }

    #[test]
    fn the_picture_of_the_readme_is_small_and_ends_well() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().join(PLACE);
        let picture = std::fs::read_to_string(path).unwrap();
        assert!(picture.len() < 200_000 && !picture.contains("<script"), "{}", picture.len());
        assert!(picture.contains("nothing was lost, nothing was done twice"));
    }
}
