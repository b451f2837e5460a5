//! Manual pages, made from the definitions of the commands, so that they cannot lag behind.

use clap::Command;

/// The command that these words name, as `claim acquire`; the program itself without words.
///
/// # Errors
/// When there is no such command: what to say of it.
pub fn find(mut command: Command, words: &[String]) -> Result<Command, String> {
    command.build();
    let mut name = command.get_name().to_owned();
    for word in words {
        let Some(below) = command.find_subcommand(word).cloned() else {
            return Err(format!("there is no command '{name} {word}'"));
        };
        name = format!("{name} {word}");
        command = below;
    }
    Ok(command)
}

/// The manual page of the command that these words name.
///
/// # Errors
/// When there is no such command: what to say of it.
pub fn manual(command: Command, words: &[String]) -> Result<String, String> {
    let mut page = Vec::new();
    let written = clap_mangen::Man::new(find(command, words)?).render(&mut page);
    written.map_err(|why| format!("the manual page cannot be written: {why}"))?;
    Ok(String::from_utf8_lossy(&page).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        line.split_whitespace().map(Into::into).collect()
    }

    fn program() -> Command {
        let acquire = Command::new("acquire").about("Take it");
        Command::new("tool").subcommand(Command::new("lock").subcommand(acquire))
    }

    #[test]
    fn each_command_has_a_page_under_its_whole_name() {
        assert!(manual(program(), &words("lock acquire")).unwrap().contains(".TH tool-lock-acquire 1"));
        assert!(manual(program(), &[]).unwrap().contains("tool\\-lock(1)"));
    }

    #[test]
    fn a_command_that_is_not_there_is_named() {
        assert_eq!(
            manual(program(), &words("lock frob")).unwrap_err(),
            "there is no command 'tool lock frob'"
        );
    }
}
