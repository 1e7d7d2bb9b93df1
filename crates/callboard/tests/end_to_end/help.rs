use std::sync::LazyLock;

use crate::home::Home;

const COMMANDS: &[&str] = &[
    "",
    "run",
    "director",
    "team",
    "team draft",
    "use",
    "session",
    "session new",
    "session list",
    "session show",
    "session update",
    "session delete",
    "session fork",
    "session journal",
    "context",
    "compress",
    "pin",
    "var",
    "var list",
    "var get",
    "var set",
    "var clear",
    "secrets",
    "secrets rotate",
    "secrets restore",
    "set",
    "set list",
    "set show",
    "set put",
    "set delete",
    "documents",
    "documents add",
    "documents list",
    "documents show",
    "documents remove",
    "collection",
    "collection create",
    "collection list",
    "collection remove",
    "collection erase",
    "collection export",
    "collection import",
    "directive",
    "form",
    "form list",
    "form answer",
    "say",
    "thread",
    "thread list",
    "thread put",
    "messages",
    "prompt",
    "recall",
    "search",
    "why",
    "erase",
    "runs",
    "runs list",
    "runs show",
    "runs pause",
    "runs resume",
    "runs cancel",
    "runs tool-result",
    "turns",
    "turns show",
    "plan",
    "plan set",
    "plan history",
    "plan show",
    "plan diff",
    "plan task",
    "workflow",
    "workflow run",
    "workflow status",
    "workflow cancel",
    "workflow export",
    "workflow set",
    "workflow name",
    "workflow add",
    "workflow change",
    "workflow delete",
    "workflow node",
    "workflow result",
    "workflow record",
    "steps",
    "steps show",
    "steps use",
    "steps advance",
    "steps set",
    "steps reset",
    "steps usage",
    "steps allowed",
    "tools",
    "tools list",
    "tools call",
    "files",
    "files new",
    "files sessions",
    "files add",
    "files list",
    "files search",
    "files delegate",
    "files remove",
    "files touch",
    "files end",
    "files clean",
    "files check",
    "files should-create",
    "files instructions",
    "export",
    "import",
    "token",
    "token new",
    "token list",
    "token revoke",
    "store",
    "store check",
    "store copy",
    "serve",
    "doctor",
    "completion",
];

#[test]
fn every_command_explains_itself() {
    let written: String = HELPS.iter().map(|(command, help)| format!("$ callboard {command} --help\n{help}")).collect();
    insta::assert_snapshot!(Home::new().normal(&written));
}

/// Commands that work on no session. They are always run as the user.
const OF_THE_USER: &[&str] = &[
    "collection",
    "completion",
    "doctor",
    "files",
    "import",
    "secrets rotate",
    "serve",
    "session list",
    "session new",
    "store",
    "team draft",
    "use",
];

/// Each command with its help.
static HELPS: LazyLock<Vec<(&str, String)>> = LazyLock::new(|| {
    let home = Home::new();
    COMMANDS.iter().map(|command| (*command, home.run(&format!("{command} --help")).stdout)).collect()
});

#[test]
fn every_command_on_a_session_can_be_run_as_an_agent_and_no_other() {
    let is_noun = |command: &str| COMMANDS.iter().any(|other| other.starts_with(&format!("{command} ")));
    for (command, help) in HELPS.iter().filter(|(command, _)| !command.is_empty()) {
        let is_of_the_user = OF_THE_USER.iter().any(|known| command.starts_with(known));
        let acts = help.contains("-a, --as <AGENT>");
        assert!(acts != is_of_the_user || is_noun(command), "{command}");
    }
    let home = Home::new();
    for line in ["session new --as writer --agent writer", "files list -a writer", "--as writer messages"] {
        let done = home.run(line);
        assert_eq!(done.status, 2, "{line}");
        assert!(done.stderr.starts_with("error: --as is for commands on a session"), "{line}: {}", done.stderr);
        assert_eq!(home.error(line).1["code"], "usage");
    }
}

#[test]
fn a_session_and_a_limit_have_the_same_letters_in_every_command() {
    for (command, help) in HELPS.iter() {
        let acts = help.contains("-a, --as <AGENT>");
        assert!(!acts || help.contains("-s, --session <ID>"), "{command}");
        for option in help.lines().map(str::trim_start).filter(|line| line.starts_with('-')) {
            for (long, both) in [("--session <", "-s, --session <ID>"), ("--limit <", "-n, --limit <N>")] {
                assert!(!option.contains(long) || option.starts_with(both), "{command}: {option}");
            }
        }
    }
    for lists in ["session list", "session journal", "messages", "recall", "search", "turns", "plan history"] {
        let (_, help) = HELPS.iter().find(|(command, _)| *command == lists).unwrap();
        assert!(help.contains("-n, --limit <N>"), "{lists}");
    }
}

#[test]
fn help_has_help_too() {
    let home = Home::new();
    for (asked, meant) in [("help --help", "help"), ("help session -h", "help session")] {
        let (asked, meant) = (home.run(asked), home.run(meant));
        assert_eq!((asked.status, asked.stdout), (0, meant.stdout));
    }
}

#[test]
fn a_short_help_ends_with_the_examples() {
    let home = Home::new();
    for (command, only_long) in [("", "Environment:"), ("run", "A team file:"), ("files", "No server and no store")] {
        let (short, long) = (home.run(&format!("{command} -h")).stdout, home.run(&format!("{command} --help")).stdout);
        assert!(long.contains(only_long) && !short.contains(only_long), "{short}");
        assert!(short.contains("\nExample") && short.contains("--help"), "{short}");
    }
    assert_eq!(home.run("say -h").stdout, home.run("say --help").stdout, "where nothing is left out");
}

#[test]
fn examples_in_help_can_be_pasted() {
    for (command, help) in HELPS.iter() {
        let Some((_, examples)) = help.split_once("\nExample") else { continue };
        let lines: Vec<_> = examples.lines().skip(1).take_while(|line| !line.is_empty()).collect();
        assert!(!lines.is_empty(), "{command}");
        for (at, line) in lines.iter().enumerate() {
            let goes_on = at > 0 && lines[at - 1].ends_with('\\');
            let begins = line.contains("callboard ") || line.starts_with("  echo '");
            assert!(begins || goes_on, "{command}: a terminal breaks the line before {line:?}");
        }
    }
}

#[test]
fn sentences_in_help_fill_the_lines_of_a_narrow_terminal() {
    const WIDE: usize = 60;
    let home = Home::new();
    for command in COMMANDS {
        let mut asked = home.command(command.split_whitespace().chain(["--help"]));
        let help = String::from_utf8(asked.env("COLUMNS", WIDE.to_string()).output().unwrap().stdout).unwrap();
        let paragraphs = help.split("\n\n").filter(|it| it.starts_with(|c: char| c.is_alphabetic() || c == '`'));
        for paragraph in paragraphs.filter(|it| !it.lines().any(|line| line.starts_with(' '))) {
            let lines: Vec<_> = paragraph.lines().collect();
            for pair in lines.windows(2) {
                let word = pair[1].split(' ').next().unwrap_or_default();
                let is_full = pair[0].len() + 1 + word.len() > WIDE;
                assert!(is_full || pair[0].ends_with('.'), "{command}: {:?} is broken before {word:?}", pair[0]);
            }
        }
    }
}

#[test]
fn the_variables_of_the_help_are_in_the_table_of_the_page() {
    let page = include_str!("../../../../docs/command-line.md");
    let help = Home::new().run("help").stdout;
    let (_, variables) = help.split_once("\nEnvironment:\n").unwrap();
    let names = variables.lines().filter_map(|line| line.trim_start().split("  ").next());
    let names: Vec<_> = names.flat_map(|names| names.split(", ")).filter(|name| !name.is_empty()).collect();
    assert!(names.len() > 20, "{names:?}");
    for name in names {
        assert!(page.contains(&format!("`{name}`")), "{name}");
    }
}

#[test]
fn callboard_alone_prints_help() {
    let home = Home::new();
    let (alone, asked) = (home.run(""), home.run("-h"));
    assert_eq!((alone.status, alone.stdout), (0, asked.stdout));
}

#[test]
fn every_shell_can_complete_commands() {
    let home = Home::new();
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let done = home.run(&format!("completion {shell}"));
        assert!(done.status == 0 && done.stdout.contains("callboard"), "{shell}: {}", done.stderr);
    }
}
