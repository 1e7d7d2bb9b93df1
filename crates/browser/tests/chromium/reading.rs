//! Reading pages and acting on them.

use std::time::Duration;

use tokio::time::timeout;

use crate::pages::{Answer, PATIENT, Site, click, html_of, settings, showing, start};
use callboard_browser::{
    Action, Browser, BrowserError, LooksLike, MaskFn, Piece, QueryField, Secret, Settings, SnapshotLimits, Timeouts,
    TokenLimit, WaitFor, Wanted,
};

fn typed(selector: &str, text: Vec<Piece>) -> Action {
    Action::Type { selector: selector.into(), text }
}

fn plain(text: &str) -> Vec<Piece> {
    vec![Piece::Plain(text.into())]
}

fn secret(value: &str, origin: String) -> Vec<Piece> {
    vec![Piece::Secret(Secret { name: "login.password".into(), value: value.to_owned().into(), origins: vec![origin] })]
}

async fn text_of(browser: &Browser) -> String {
    browser.snapshot("main", &SnapshotLimits::default()).await.unwrap().text
}

#[tokio::test(flavor = "multi_thread")]
async fn a_login_in_two_steps_with_a_secret_that_never_comes_back() {
    let site = Site::start([
        ("/", html_of("<title>Sign in</title><h1>Sign in</h1><form action=/two><label>Email <input id=email name=email></label>\
            <button id=next>Next</button></form>")),
        ("/two", html_of("<title>Welcome</title><h1>Welcome</h1><form action=/in><label>Password <input type=password name=password required></label>\
            <button>Sign in</button></form>")),
        ("/in", html_of("<title>Inbox</title><h1></h1><script>const p = new URLSearchParams(location.search).get('password');\
            document.title = 'Inbox of ' + p; document.querySelector('h1').textContent = 'Your password is ' + p</script>")),
    ])
    .await;
    let other = Site::page("<title>Other</title><input id=x>").await;
    let browser = start(settings(&[&site, &other])).await;
    browser.open(&site.url("/"), "main").await.unwrap();
    let look = browser.look("main").await.unwrap();
    assert_eq!(
        (look.looks_like, look.headings.as_slice()),
        (Some(LooksLike::Login), ["Sign in".to_owned()].as_slice())
    );
    assert_eq!(look.forms[0].fields[0].selector, "#email");
    browser.act("main", typed("#email", plain("me@example.com"))).await.unwrap();
    assert!(text_of(&browser).await.contains(r##"- textbox "Email" (focused) = "me@example.com" #email"##));
    let next = browser.act("main", Action::Press { selector: None, key: "Enter".into() }).await.unwrap();
    assert_eq!(next.title, "Welcome");

    let value = "tr0ub4dor & 3";
    let refused = browser.act("main", typed("input[name=password]", secret(value, "https://example.com".into()))).await;
    assert_eq!(refused.unwrap_err().code(), "secret_not_allowed");
    browser.act("main", typed("input[name=password]", secret(value, site.origin()))).await.unwrap();
    let text = text_of(&browser).await;
    assert!(
        text.contains(r#"- textbox "Password" (password, required, focused) = "[hidden]" input[name="password"]"#),
        "{text}"
    );
    assert!(browser.screenshot("main").await.unwrap().covered >= 1);
    let inbox = browser.act("main", click("role=button[name=\"Sign in\"]")).await.unwrap();
    let tabs = format!("{:?}", browser.tabs());
    for shown in
        [format!("{inbox:?}"), tabs, text_of(&browser).await, format!("{:?}", browser.look("main").await.unwrap())]
    {
        assert!(!shown.contains("tr0ub4dor") && shown.contains("[hidden]"), "{shown}");
    }
    assert!(browser.screenshot("main").await.unwrap().covered >= 1);
    browser.navigate("main", &other.url("/")).await.unwrap();
    let refused = browser.act("main", typed("#x", secret(value, site.origin()))).await;
    assert_eq!(refused.unwrap_err().code(), "secret_not_allowed");
    browser.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn whether_a_secret_is_typed_is_said_by_the_page_and_not_by_its_frames() {
    let site = Site::page("<title>In</title><input id=pw><iframe srcdoc='<input id=inner>'></iframe>").await;
    let outside = format!("<title>Out</title><input id=own><iframe src='{}'></iframe>", site.url("/"));
    let other = Site::page(&outside).await;
    let browser = start(settings(&[&site, &other])).await;
    let typing = async |selector: &str, origin: String| {
        browser.act("main", typed(selector, secret("tr0ub4dor & 3", origin))).await
    };
    // A page with a frame of the allowed origin is of its own origin, and so is all that is in it.
    browser.open(&other.url("/"), "main").await.unwrap();
    assert_eq!(typing("#own", site.origin()).await.unwrap_err().code(), "secret_not_allowed");
    for in_frame in ["#pw", "#inner"] {
        assert_eq!(typing(in_frame, site.origin()).await.unwrap_err().code(), "nothing_matches", "{in_frame}");
    }
    // The frame has no address of its own, but the page has.
    browser.navigate("main", &site.url("/")).await.unwrap();
    assert_eq!(typing("#inner", other.origin()).await.unwrap_err().code(), "secret_not_allowed");
    typing("#inner", site.origin()).await.unwrap();
    let text = text_of(&browser).await;
    assert!(text.contains("= \"[hidden]\" #inner"), "{text}");
    browser.stop().await.unwrap();
}

/// A mask that knows these values.
fn knows(values: &'static [&'static str]) -> Option<MaskFn> {
    let find = move |text: &str| {
        let places = |value: &'static str| text.match_indices(value).map(move |(start, _)| start..start + value.len());
        values.iter().copied().flat_map(places).collect::<Vec<_>>()
    };
    Some(MaskFn::new(move || !values.is_empty(), find))
}

/// Shows the first word of its query in all the ways in which pages show texts. The second one is the port of another site.
const SHOWS: &str = "<title>Settings</title><style>* { font: 16px monospace } p { margin: 4px }
    [popover] { display: none !important; opacity: .1 !important } #styled::after { content: 'at ' attr(data-key) }</style>
    <body><script>const [key, port] = location.search.slice(1).split('&');
    document.body.insertAdjacentHTML('beforeend', `<p>Your key is ${key}.</p><p>${key.slice(0, 5)}<b>${key.slice(5)}</b></p>
    <p><input value='${key}'> <input placeholder='${key}'> <textarea>${key}</textarea></p>
    <p><select><option>${key}</select> <img src=data: alt='${key}' width=200 height=40></p><p id=styled data-key='${key}'></p>
    <div contenteditable>${key}</div><style style='display: block'>${key}</style>
    <div id=box></div><iframe src='/in?${key}' height=60 style='padding: 9px'></iframe>
    <iframe src='http://127.0.0.1:${port}/?${key}' height=60></iframe>`);
    box.attachShadow({mode: 'open'}).innerHTML = `<p>${key}</p>`;
    const told = node => { document.title = `${node.childNodes.length} nodes, ${node.shadowRoot}` };
    const watch = new MutationObserver(changes => changes.forEach(change => change.addedNodes.forEach(told)));
    watch.observe(document.documentElement, {childList: true})</script>";
const WRITES: &str = "<style>* { font: 16px monospace }</style><body><script>document.write(location.search)</script>";

#[tokio::test(flavor = "multi_thread")]
async fn a_picture_shows_no_known_secret_wherever_it_stands() {
    let site = Site::start([("/", html_of(SHOWS)), ("/in", html_of(WRITES))]).await;
    let other = Site::page(WRITES).await;
    let taken = async |browser: &Browser, key: &str| {
        browser.navigate("main", &site.url(&format!("/?{key}&{}", other.port))).await.unwrap();
        browser.screenshot("main").await.unwrap()
    };
    let browser = start(settings(&[&site, &other])).await;
    browser.open("about:blank", "main").await.unwrap();
    let plain = [taken(&browser, "key-111111").await, taken(&browser, "key-222222").await];
    assert_eq!(plain.each_ref().map(|taken| taken.covered), [0, 0]);
    assert!(plain[0].png != plain[1].png, "without a mask the pictures show them");
    browser.stop().await.unwrap();

    let mask = knows(&["key-111111", "key-222222"]);
    let browser = start(Settings { mask, ..settings(&[&site, &other]) }).await;
    browser.open("about:blank", "main").await.unwrap();
    let masked = [taken(&browser, "key-111111").await, taken(&browser, "key-222222").await];
    assert_eq!(masked[0].covered, 14, "two texts for the one that is split, and the frame that cannot be read");
    assert!(masked[0] == masked[1], "the pictures do not tell which secret it is");
    let unknown = taken(&browser, "key-333333").await;
    assert_eq!(unknown.covered, 1, "the frame alone");
    let title = QueryField { name: "title".into(), what: Wanted::Title };
    let seen = browser.query("main", &[title]).await.unwrap();
    assert_eq!(seen["title"], "0 nodes, null", "a page does not see what is painted over");
    browser.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_picture_shows_no_secret_of_a_page_that_is_scrolled_or_zoomed_or_of_what_is_turned_or_on_top() {
    let scrolled = "<body><div style='height: 3000px'></div><p id=p></p>\
        <script>p.textContent = location.search; scrollTo(0, 9999)</script>";
    let zoomed = "<style>html { zoom: 1.5 }</style><body><script>document.write(location.search)</script>";
    let turned = "<body><script>document.body.innerHTML =\
        `<iframe style='transform: rotate(180deg)' srcdoc='<p>${location.search}'></iframe>`</script>";
    // It opens as soon as something lies over the page.
    let dialog = "<dialog id=over></dialog><script>over.textContent = location.search;\
        const open = () => { if (!over.open) over.showModal() };\
        new MutationObserver(open).observe(document.documentElement, {childList: true})</script>";
    let pages = [("/scrolled", scrolled), ("/zoomed", zoomed), ("/turned", turned), ("/dialog", dialog)];
    let site = Site::start(pages.map(|(path, html)| (path, html_of(html)))).await;
    let mask = knows(&["key-111111", "key-222222"]);
    let browser = start(Settings { mask, ..settings(&[&site]) }).await;
    browser.open("about:blank", "main").await.unwrap();
    for (path, _) in pages {
        let taken = async |key: &str| {
            browser.navigate("main", &site.url(&format!("{path}?{key}"))).await.unwrap();
            browser.screenshot("main").await.unwrap()
        };
        let (one, other) = (taken("key-111111").await, taken("key-222222").await);
        assert_eq!(one.covered, 1, "{path}");
        assert!(one == other, "the pictures of {path} do not tell which secret it is");
    }
    browser.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn there_is_no_picture_where_a_secret_cannot_be_painted_over() {
    let site = Site::start([
        (
            "/",
            html_of(
                "<title>Moves</title><button id=stop onclick='go = false'>Stop</button>\
            <p id=p style='position: absolute; top: 90px'>key-111111</p><script>let go = true, left = 0;\
            const move = () => { if (go) p.style.left = (left += 40) + 'px' };\
            const draw = () => { move(); requestAnimationFrame(draw) }; draw(); setInterval(move, 1)</script>",
            ),
        ),
        (
            "/tip",
            html_of(
                "<title>Tip</title><style>p::before { content: attr(title); position: absolute; top: 90px }</style>\
            <p title=key-111111>Hint</p>",
            ),
        ),
        (
            "/narrow",
            html_of(
                "<title>Narrow</title><style>p { width: 2em; white-space: nowrap } p::after { content: attr(title) }</style>\
            <p title=key-111111>Hint</p>",
            ),
        ),
        ("/list", html_of("<title>List</title><style>li::marker { content: 'key-111111 ' }</style><li>Hint")),
        (
            "/alone",
            html_of(
                "<title>Alone</title><p>key-111111</p><script>const remove = node => node.remove();\
            const watch = new MutationObserver(changes => changes.forEach(change => change.addedNodes.forEach(remove)));\
            watch.observe(document.documentElement, {childList: true})</script>",
            ),
        ),
    ])
    .await;
    let browser = start(Settings { mask: knows(&["key-111111"]), ..settings(&[&site]) }).await;
    browser.open(&site.url("/"), "main").await.unwrap();
    let moving = browser.screenshot("main").await.unwrap_err();
    assert_eq!(moving.code(), "secrets_not_covered", "{moving}");
    browser.act("main", click("#stop")).await.unwrap();
    assert_eq!(browser.screenshot("main").await.unwrap().covered, 1);
    for path in ["/tip", "/narrow", "/list", "/alone"] {
        browser.navigate("main", &site.url(path)).await.unwrap();
        let placed = browser.screenshot("main").await.unwrap_err();
        assert_eq!(placed.code(), "secrets_not_covered", "{path}: {placed}");
    }
    browser.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_table_with_pages_and_a_form_that_fails() {
    let site = Site::page("<title>T</title><table><tr><th>Name<th>Size</tr><tbody id=b></tbody></table><button id=n>Next page</button>\
        <form id=f novalidate><label>Age <input id=age></label><select id=s aria-label=Color><option value=r>Red<option>Blue</select>\
        <button>Save</button></form><script>let p = 0; const draw = () => { b.innerHTML = `<tr><td>row ${p}<td>${p * 10} \
        <a href=/x>open</a></tr>` }; draw(); n.onclick = () => { p++; setTimeout(draw, 200) };\
        f.onsubmit = e => { e.preventDefault(); f.insertAdjacentHTML('beforeend', `<p role=alert>Age is no number: ${age.value} ${s.value}</p>`) }</script>")
        .await;
    let browser = showing(&site).await;
    let text = text_of(&browser).await;
    assert!(text.contains("- row \"Name | Size\"") && text.contains("- row \"row 0 | 0 open\""), "{text}");
    browser.act("main", click("text=Next page")).await.unwrap();
    browser.act("main", Action::Wait(WaitFor::Text("row 1".into()))).await.unwrap();
    assert!(text_of(&browser).await.contains("row 1 | 10 open"));
    browser.act("main", typed("text=Age", plain("ten é"))).await.unwrap();
    browser.act("main", Action::Select { selector: "#s".into(), options: vec!["blue".into()] }).await.unwrap();
    let error =
        browser.act("main", Action::Select { selector: "#s".into(), options: vec!["Green".into()] }).await.unwrap_err();
    assert_eq!(error.to_string(), "`#s` has no option \"Green\"; its options: Red, Blue");
    browser.act("main", click("role=button[name=Save]")).await.unwrap();
    assert_eq!(browser.look("main").await.unwrap().alerts, ["Age is no number: ten é Blue"]);
    browser.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_selector_that_matches_none_or_many_is_explained() {
    let site = Site::page("<title>S</title><button id=nextButton>Next</button><a href=/a>Edit</a><a href=/b>Edit</a>\
        <button id=off disabled>Off</button><p id=p>Text</p><div style='position:relative'><button id=under>Under</button>\
        <div id=over style='position:absolute;inset:0;background:red'>over</div></div>").await;
    let browser = showing(&site).await;
    let failed = async |selector: &str| browser.act("main", click(selector)).await.unwrap_err();
    match failed("#nextBtn").await {
        BrowserError::NothingMatches { nearest, .. } => assert_eq!(nearest[0], "button \"Next\" #nextButton"),
        other => panic!("{other}"),
    }
    match failed("text=Edit").await {
        BrowserError::SeveralMatch { count: 2, examples, .. } => {
            assert_eq!(examples[1], r#"link "Edit" role=link[name="Edit"] >> nth=1"#);
        }
        other => panic!("{other}"),
    }
    assert_eq!(failed("#a[").await.code(), "bad_selector");
    assert!(failed("#off").await.to_string().contains("disabled"));
    let covered = failed("#under").await.to_string();
    assert!(covered.contains("covered by") && covered.contains("#over"), "{covered}");
    let error = browser.act("main", typed("#p", plain("x"))).await.unwrap_err();
    assert_eq!(error.code(), "not_usable");
    assert!(browser.act("main", click("role=link[name=\"Edit\"] >> nth=1")).await.unwrap().url.ends_with("/b"));
    browser.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn what_has_an_id_for_tests_is_named_by_it_scrolled_to_and_used() {
    let site = Site::page("<title>T</title><p id=s style='position: fixed; top: 90px'></p>\
        <button data-testid=save onclick=\"document.title = 'saved'\">Save</button><div style='height: 5000px'></div>\
        <button id=b20481 data-cy=drop>Save</button>\
        <script>addEventListener('scroll', () => { s.textContent = scrollY > 1000 ? 'be' + 'low' : 'abo' + 've' })</script>")
        .await;
    let browser = showing(&site).await;
    let text = text_of(&browser).await;
    for named in [r#"- button "Save" [data-testid="save"]"#, r#"- button "Save" [data-cy="drop"]"#] {
        assert!(text.contains(named), "{named}: {text}");
    }
    let scroll = Action::Scroll { selector: Some("[data-cy=drop]".into()), pixels: 0 };
    browser.act("main", scroll).await.unwrap();
    browser.act("main", Action::Wait(WaitFor::Text("below".into()))).await.unwrap();
    assert_eq!(browser.act("main", click(r#"[data-testid="save"]"#)).await.unwrap().title, "saved");
    browser.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn frames_and_shadow_roots_are_read_and_used() {
    let site = Site::start([
        ("/", html_of("<title>F</title><div style='height:300px'></div><iframe id=f src=/in style='border:7px solid'></iframe><my-box></my-box>\
            <script>customElements.define('my-box', class extends HTMLElement { connectedCallback() {\
            this.attachShadow({mode: 'open'}).innerHTML = '<button id=deep>Deep</button>';\
            this.shadowRoot.firstChild.onclick = () => { document.title = 'deep clicked' } } })</script>")),
        ("/in", html_of("<button id=inner onclick=\"top.document.title = 'inner clicked'\">Inner</button><input id=i>")),
    ])
    .await;
    let browser = showing(&site).await;
    let text = text_of(&browser).await;
    assert!(
        text.contains("- frame #f\n  - button \"Inner\" #inner") && text.contains("- button \"Deep\" #deep"),
        "{text}"
    );
    assert_eq!(browser.act("main", click("#inner")).await.unwrap().title, "inner clicked");
    assert_eq!(browser.act("main", click("#deep")).await.unwrap().title, "deep clicked");
    browser.act("main", typed("#i", plain("within"))).await.unwrap();
    assert!(text_of(&browser).await.contains("= \"within\" #i"));
    browser.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_that_never_ends_loading_leaves_the_tab_usable() {
    let site = Site::start([
        ("/", html_of("<title>Fine</title>")),
        ("/silent", Answer::Silence),
        (
            "/slow",
            Answer::Beginning(
                "<title>Slow</title><button id=b onclick=\"document.title='used'\">b</button>".to_owned()
                    + &" ".repeat(4000),
            ),
        ),
    ])
    .await;
    let timeouts = Timeouts { load: Duration::from_secs(2), settle: Duration::from_secs(1), ..PATIENT };
    let browser = start(Settings { timeouts, ..settings(&[&site]) }).await;
    browser.open(&site.url("/"), "main").await.unwrap();
    let address = site.url("/silent");
    let silent = timeout(Duration::from_secs(60), browser.navigate("main", &address)).await.unwrap().unwrap();
    assert!(!silent.loaded);
    assert_eq!(silent.title, "Fine");
    let slow = browser.navigate("main", &site.url("/slow")).await.unwrap();
    assert_eq!((slow.loaded, slow.title.as_str()), (false, "Slow"));
    assert_eq!(browser.act("main", click("#b")).await.unwrap().title, "used");
    assert!(browser.navigate("main", &site.url("/")).await.unwrap().loaded);
    browser.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_that_changes_after_it_has_loaded_is_waited_for_and_scrolled() {
    let site = Site::page("<title>C</title><body style='height: 5000px'><p id=p>Loading</p><p id=s style='position: fixed; top: 90px'></p>\
        <script>const late = document.createElement('button'); late.id = 'late'; late.textContent = 'Late';\
        late.onclick = () => { document.title = 'late clicked' };\
        addEventListener('load', () => setTimeout(() => p.replaceWith(late), 300));\
        addEventListener('scroll', () => { s.textContent = 'mo' + 'ved' })</script>")
        .await;
    let browser = showing(&site).await;
    browser.act("main", Action::Wait(WaitFor::Selector("#late".into()))).await.unwrap();
    let text = text_of(&browser).await;
    assert!(text.contains("- button \"Late\" #late") && !text.contains("Loading"), "{text}");
    assert_eq!(browser.act("main", click("#late")).await.unwrap().title, "late clicked");
    browser.act("main", Action::Scroll { selector: None, pixels: 400 }).await.unwrap();
    browser.act("main", Action::Wait(WaitFor::Text("moved".into()))).await.unwrap();
    let error = browser.act("main", Action::Press { selector: None, key: "Hyper".into() }).await.unwrap_err();
    assert_eq!(error.code(), "bad_key");
    browser.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_of_five_thousand_elements_is_read_and_bounded() {
    let site = Site::page("<title>Big</title><script>document.write(Array.from({length: 1250}, (_, i) =>\
        `<div><a href=/x${i}>Link ${i}</a> <button id=b${i}>Button ${i}</button> <input name=n${i} aria-label='Field ${i}'></div>`).join(''))</script>")
        .await;
    let browser = showing(&site).await;
    for _ in 0..5 {
        let snapshot = browser.snapshot("main", &SnapshotLimits::default()).await.unwrap();
        assert!(snapshot.elements >= 5_000, "{}", snapshot.elements);
        assert!(snapshot.chars <= 24_000 && snapshot.chars == snapshot.text.chars().count());
        assert!(snapshot.cut["button"] > 500 && snapshot.text.ends_with("by a selector]\n"), "{:?}", snapshot.cut);
    }
    let limits = SnapshotLimits { within: Some("#b7".into()), ..SnapshotLimits::default() };
    assert_eq!(browser.snapshot("main", &limits).await.unwrap().text, "- button \"Button 7\" #b7\n");
    let words = TokenLimit { most: 500, count: |text| text.split_whitespace().count() };
    let limits = SnapshotLimits { tokens: Some(words), ..SnapshotLimits::default() };
    let snapshot = browser.snapshot("main", &limits).await.unwrap();
    let said = (words.count)(&snapshot.text);
    assert!((350..=500).contains(&said) && snapshot.text.ends_with("by a selector]\n"), "{said} words");
    browser.stop().await.unwrap();
}
