use crate::home::Home;

const COMMANDS: &[&str] = &[
    "",
    "run",
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
    "secrets scrub",
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
    "plan",
    "plan set",
    "plan history",
    "plan show",
    "plan diff",
    "plan task",
    "workflow",
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
    let home = Home::new();
    let lines: Vec<_> = COMMANDS.iter().map(|command| format!("{command} --help")).collect();
    insta::assert_snapshot!(home.transcript(&lines.iter().map(String::as_str).collect::<Vec<_>>()));
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
