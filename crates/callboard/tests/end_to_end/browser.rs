//! The browser of a session on the command line: a real Chromium in a server that is a process of its own.

use std::{
    io::{Read as _, Write as _},
    net::TcpListener,
    process::{Child, Command, Stdio},
    thread,
};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{
    home::{Home, is_root},
    server::{Server, until, words},
};

const PAGE: &str = "<!doctype html><title>Sign in</title><h1>Sign in</h1>\
    <form onsubmit=\"event.preventDefault(); done.textContent = 'Welcome ' + mail.value\">\
    <label>Email <input id=mail></label><input id=pass type=password><button id=next>Next</button></form><p id=done></p>";

/// Serves one page, and says on which port. It goes on until the tests have ended.
pub fn page() -> u16 {
    site(&[("/", PAGE)])
}

/// The same with several pages, each with its path. The first of them is everywhere else, too.
pub fn site(pages: &'static [(&'static str, &'static str)]) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            thread::spawn(move || {
                // The browser may open connections that it does not use, and close them.
                let mut head = [0; 16_384];
                let read = stream.read(&mut head).unwrap_or(0);
                let head = String::from_utf8_lossy(&head[..read]).into_owned();
                let path = head.split(' ').nth(1).unwrap_or("/");
                let page = pages.iter().find(|(at, _)| *at == path).unwrap_or(&pages[0]).1;
                let length = page.len();
                let head = format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {length}");
                let _ = write!(stream, "{head}\r\nConnection: close\r\n\r\n{page}");
            });
        }
    });
    port
}

/// A Chromium that somebody else has started. It ends with the test.
struct Chromium {
    child: Child,
    profile: TempDir,
}

impl Chromium {
    fn start() -> Self {
        let profile = TempDir::new().unwrap();
        let program = std::env::var_os("CHROMIUM").unwrap_or_else(|| "chromium".into());
        let child = Command::new(program)
            .args(["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--remote-debugging-port=0"])
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .arg("about:blank")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("Chromium is installed: apt-get install chromium");
        Self { child, profile }
    }

    /// Its DevTools address, once it listens there.
    fn address(&self) -> String {
        let file = self.profile.path().join("DevToolsActivePort");
        until("the port of Chromium", || {
            let text = std::fs::read_to_string(&file).ok()?;
            text.split_once('\n').map(|(port, _)| format!("http://127.0.0.1:{port}"))
        })
    }
}

impl Drop for Chromium {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What starts a server with these options more whose browsers reach this port of the machine.
pub fn serve(home: &Home, port: u16, more: &str) -> Command {
    let mut serve = home.on_the_store(words(&format!("--ttl never {more}")));
    serve.env("CALLBOARD_BROWSER_ALLOW", format!("127.0.0.1:{port}"));
    serve
}

/// A home with such a server.
pub fn home(port: u16) -> (Home, Server) {
    let home = Home::new();
    let server = Server::of(serve(&home, port, ""));
    (home, server)
}

#[test]
fn a_browser_is_used_on_the_command_line() {
    let port = page();
    let (home, server) = home(port);
    let run = |line: &str| home.json(&format!("{line} --url {}", server.url));
    run("session new --id mails --agent director:manager");
    assert_eq!(run("browser status"), json!({"tabs": []}));
    let address = format!("http://127.0.0.1:{port}/");
    let opened = run(&format!("browser open {address}"));
    let tab = json!({"name": "Main Tab", "url": address, "title": "Sign in", "active": true});
    assert_eq!(opened["tabs"], json!([tab]));
    let seen = run("browser inspect --whole");
    assert!(seen["result"].as_str().unwrap().contains("- textbox \"Email\" #mail"), "{seen}");
    run("browser act type #mail ann@example.com");
    run("browser act press Enter");
    run("browser act wait 'Welcome ann@example.com'");
    let steps =
        r##"[{"action": "type", "selector": "#mail", "value": "bob"}, {"action": "click", "selector": "#next"}]"##;
    let done = run(&format!("browser act --steps '{steps}'"));
    assert!(
        done["result"].as_str().unwrap().starts_with("1. type into `#mail`: done\n2. click `#next`: done"),
        "{done}"
    );

    let (home_error, url) = (|line: &str| home.error(&format!("{line} --url {}", server.url)), &server.url);
    let (status, error) = home_error("browser act click '#nxt'");
    assert_eq!((status, &error["code"]), (1, &json!("nothing_matches")), "{error}");
    let (status, error) = home_error("browser open http://127.0.0.1:1/ Other");
    assert_eq!((status, &error["code"]), (1, &json!("address_refused")), "{error}");
    let (status, error) = home_error(&format!("browser go {url}/v1/sessions"));
    assert_eq!((status, &error["code"]), (1, &json!("address_refused")), "{error}");
    let (status, error) = home.error("browser status");
    assert_eq!((status, &error["code"]), (2, &json!("no_browser")), "a browser lives in a server: {error}");

    let picture = home.path("page.png");
    run("browser screenshot --output page.png");
    assert!(std::fs::read(&picture).unwrap().starts_with(b"\x89PNG"));
    let taken = run("browser screenshot");
    let kept = home.path("screenshots/team.db/mails").join(taken["file"].as_str().unwrap());
    assert!(kept.exists(), "it is beside the store");
    let status = home.run(&format!("browser status --url {}", server.url));
    assert!(status.stdout.contains("Main Tab  active"), "{}", status.stdout);
    assert!(!status.stdout.contains("not guarded"), "{}", status.stdout);
    assert_eq!(status.stdout.contains("without Chromium's sandbox"), is_root(), "{}", status.stdout);
    // A prompt does not wait for long where the browser is slow.
    until("the tab in a prompt", || {
        let prompt = run("prompt --layout director");
        prompt["text"].as_str().unwrap().contains(&format!("- Main Tab (Active) = {address}\n")).then_some(())
    });
    run("browser close --all");
    assert_eq!(run("browser status"), json!({"tabs": []}));
}

#[test]
fn an_attached_browser_is_said_to_be_unguarded() {
    let port = page();
    let home = Home::new();
    let chromium = Chromium::start();
    let address = chromium.address();
    let serve = serve(&home, port, &format!("--browser {address}"));
    let log = home.path("log");
    let server = Server::logging_to(serve, std::fs::File::create(&log).unwrap().into());
    let note = format!("note: the browser at {address} is not guarded: its pages reach what they like");
    until("the note of the server", || std::fs::read_to_string(&log).unwrap().contains(&note).then_some(()));
    let run = |line: &str| home.json(&format!("{line} --url {}", server.url));
    run("session new --id mails --agent director:manager");
    run(&format!("browser open http://127.0.0.1:{port}/"));
    let status = home.run(&format!("browser status --url {}", server.url));
    assert!(status.stdout.contains("Main Tab  active"), "{}{}", status.stdout, status.stderr);
    let said = "\nnot guarded: its pages reach what they like, and what they download is kept\n";
    assert!(status.stdout.contains(said), "{}", status.stdout);
    assert!(!status.stdout.contains("sandbox"), "it is not known: {}", status.stdout);
}

#[test]
fn a_variable_allows_all_private_addresses_and_a_wrong_value_of_it_is_refused() {
    let port = page();
    let home = Home::new().with_session("--id mails --agent director:manager");
    let serve = |value: &str| {
        let mut serve = home.on_the_store(words("--ttl never"));
        serve.env("CALLBOARD_BROWSER_ALLOW_PRIVATE", value);
        serve
    };
    let refused = serve("yes").output().unwrap();
    let said: Value = serde_json::from_slice(&refused.stdout).unwrap();
    assert_eq!((refused.status.code(), &said["error"]["code"]), (Some(2), &json!("invalid")), "{said}");
    assert_eq!(said["error"]["detail"], "CALLBOARD_BROWSER_ALLOW_PRIVATE: \"yes\" is neither 1 nor 0");

    let open = format!("browser open http://127.0.0.1:{port}/ --session mails");
    let server = Server::of(serve("0"));
    let (status, error) = home.error(&format!("{open} --url {}", server.url));
    assert_eq!((status, &error["code"]), (1, &json!("address_refused")), "{error}");
    drop(server);
    let server = Server::of(serve("1"));
    let opened = home.json(&format!("{open} --url {}", server.url));
    assert_eq!(opened["tabs"][0]["title"], "Sign in", "{opened}");
    let (status, error) = home.error(&format!("browser go {0}/v1/sessions --session mails --url {0}", server.url));
    assert_eq!((status, &error["code"]), (1, &json!("address_refused")), "the server itself never: {error}");
}

#[test]
fn i6_a_secret_is_typed_by_its_name_and_is_in_no_output() {
    const CANARY: &str = "osprey-9920-quartz";
    let port = page();
    let (home, server) = home(port);
    let line = |line: &str| home.run(&format!("{line} --url {}", server.url));
    let origin = format!("http://127.0.0.1:{port}");
    let mut done = vec![line("session new --id mails --agent director:manager")];
    done.push(line(&format!("var set mail_password {CANARY} --origin {origin}")));
    done.push(line(&format!("browser open {origin}/")));
    for step in ["type #mail", "type #pass"] {
        done.push(line(&format!("browser act {step} {{{{secret:mail_password}}}} --json")));
    }
    for more in ["act click #next", "inspect --whole", "inspect", "status", "screenshot"] {
        done.push(line(&format!("browser {more} --json")));
    }
    done.push(line("session journal --json"));
    for done in &done {
        assert_eq!(done.status, 0, "{}{}", done.stdout, done.stderr);
        assert!(!done.stdout.contains(CANARY) && !done.stderr.contains(CANARY), "{}{}", done.stdout, done.stderr);
    }
    assert!(done.iter().any(|done| done.stdout.contains("Welcome [hidden]")));
}

#[test]
fn no_browser_is_left_behind_by_a_server_that_is_killed() {
    let port = page();
    let home = Home::new();
    let count = || {
        let ps = Command::new("ps").args(["-eo", "args"]).stdout(Stdio::piped()).output().unwrap();
        let own = format!("--user-data-dir={}", home.path("profiles").display());
        String::from_utf8_lossy(&ps.stdout).lines().filter(|line| line.contains(&own)).count()
    };
    let profiles = home.path("profiles");
    let mut server = Server::of(serve(&home, port, &format!("--browser-profiles {}", profiles.display())));
    home.json(&format!("session new --id mails --agent director:manager --url {}", server.url));
    home.json(&format!("browser open http://127.0.0.1:{port}/ --url {}", server.url));
    assert_ne!(count(), 0);
    server.kill();
    until("the end of Chromium, which ends when its server does", || (count() == 0).then_some(()));
}

#[test]
fn a_profile_goes_with_its_browser_unless_it_is_kept() {
    let port = page();
    let home = Home::new().with_session("--id mails --agent director:manager");
    std::fs::create_dir(home.path("tmp")).unwrap();
    let fresh = || {
        let names = std::fs::read_dir(home.path("tmp")).unwrap().map(|entry| entry.unwrap().file_name());
        names.filter(|name| name.to_string_lossy().starts_with("callboard-browser-")).count()
    };
    let kept = home.path("profiles/mails");
    let keeps = format!("--browser-profiles {}", home.path("profiles").display());
    for (options, while_open) in [("", 1), (keeps.as_str(), 0)] {
        let mut serve = serve(&home, port, options);
        serve.env("TMPDIR", home.path("tmp"));
        let server = Server::of(serve);
        let run = |line: &str| home.json(&format!("{line} --session mails --url {}", server.url));
        run(&format!("browser open http://127.0.0.1:{port}/"));
        assert_eq!((fresh(), kept.exists()), (while_open, !options.is_empty()));
        run("browser close --all");
        assert_eq!((fresh(), kept.exists()), (0, !options.is_empty()), "{options}");
    }
}

#[test]
fn the_options_of_browsers_are_for_a_workflow_on_a_store_too() {
    let port = page();
    let home = Home::new().with_session("--id mails --agent director:manager");
    let config = json!({"action": "navigate", "url": format!("http://127.0.0.1:{port}/")});
    home.json(&format!("workflow add browser_action --config '{config}' --session mails"));
    let run = |option: &str| {
        let mut run = home.command(["workflow", "run", "--session", "mails", option, "127.0.0.1"]);
        run.env("CALLBOARD_BROWSER_ALLOW", format!("127.0.0.1:{port}"));
        run.output().unwrap()
    };
    let denied = run("--browser-deny");
    let said = String::from_utf8_lossy(&denied.stderr);
    assert!(!denied.status.success() && said.contains("is forbidden by `127.0.0.1`"), "{said}");
    let allowed = run("--browser-host");
    assert!(allowed.status.success(), "{}", String::from_utf8_lossy(&allowed.stderr));
    for line in ["workflow run --browser-window --session mails", "director Hello --browser http://127.0.0.1:2"] {
        let (status, error) = home.error(&format!("{line} --url http://127.0.0.1:1"));
        assert_eq!((status, &error["code"]), (2, &json!("usage")), "at a server it has the browsers: {error}");
    }
}
