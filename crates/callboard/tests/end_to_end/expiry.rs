//! When sessions expire, and what is left of them then.

use serde_json::{Value, json};

use crate::{home::Home, server::lines};

#[test]
fn sessions_made_on_a_store_never_expire_unless_told() {
    let home = Home::new();
    assert_eq!(home.json("session new --id lasting")["ttl_seconds"], "never");
    assert_eq!(home.json("session new --id told --ttl 36h")["ttl_seconds"], 36 * 3600);
    home.write("team.toml", "ttl_seconds = '90d'\n[[agent]]\nname = 'a'\nrole = 'worker'\n");
    assert_eq!(home.json("session new team.toml --id filed")["ttl_seconds"], 90 * 86_400);
    assert!(home.run("session show told").stdout.contains(", 36 hours after its last use"));
}

/// The lines that a server prints at its start, and how long a session lives that is made there.
fn at_a_server(options: &str, variable: Option<&str>) -> (Vec<String>, Value) {
    let home = Home::new();
    let mut command = home.on_the_store(["serve", "--port", "0"].into_iter().chain(options.split_whitespace()));
    command.envs(variable.map(|ttl| ("SESSION_TTL_SECONDS", ttl)));
    let mut server = command.spawn().unwrap();
    let lines: Vec<_> = lines(&mut server).take(4).collect();
    let url = lines[0].strip_prefix("listening on ").unwrap();
    let made = home.json(&format!("session new --url {url}"));
    server.kill().unwrap();
    server.wait().unwrap();
    (lines, made["ttl_seconds"].clone())
}

#[test]
fn sessions_made_at_a_server_expire_as_it_says_at_its_start() {
    for (options, variable, is, said) in [
        ("", None, json!(86_400), "sessions made here expire 24 hours after their last use"),
        ("", Some("60"), json!(60), "sessions made here expire 1 minute after their last use"),
        ("--ttl 90d", Some("60"), json!(90 * 86_400), "sessions made here expire 90 days after their last use"),
        ("--ttl never", None, json!("never"), "sessions made here never expire"),
    ] {
        let (lines, ttl) = at_a_server(options, variable);
        assert!(lines.iter().any(|line| line.starts_with(said)), "{lines:?}");
        assert_eq!(ttl, is, "{options} {variable:?}");
    }
}

#[test]
fn the_default_time_to_live_comes_from_the_environment_and_years_do_not_overflow() {
    let home = Home::new();
    let with = |ttl: &str, id: &str| {
        let mut command = home.command(["session", "new", "--json", "--id", id]);
        let done = command.env("SESSION_TTL_SECONDS", ttl).output().unwrap();
        (done.status.code(), serde_json::from_slice::<Value>(&done.stdout).unwrap())
    };
    for (ttl, is) in [("60", json!(60)), ("never", json!("never")), (&u64::MAX.to_string(), json!(u64::MAX))] {
        let (status, made) = with(ttl, &format!("lives-{ttl}"));
        assert_eq!((status, &made["ttl_seconds"]), (Some(0), &is), "{made}");
    }
    let far = home.json(&format!("session show --session lives-{}", u64::MAX));
    assert!(far["expires_at"].as_str().unwrap().starts_with("9999-"), "{far}");
    for wrong in ["0", "-1", "1.5", "1e3", "soon", "99999999999999999999999"] {
        let (status, made) = with(wrong, "none");
        let detail = made["error"]["detail"].as_str().unwrap();
        assert!(
            status == Some(2) && detail.contains("SESSION_TTL_SECONDS") && detail.contains("above 0"),
            "{wrong}: {made}"
        );
    }
}
