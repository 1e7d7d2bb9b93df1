//! Pictures, audio and PDFs of a conversation: which of them models are shown, in which form, and what they cost.

use callboard_core::{count::Factor, run::PromptRecord, tool::own_names};

use crate::{Provider, media, tests::*};

/// The beginning of a picture of 1000 by 500 pixels.
const PICTURE: &str = "iVBORw0KGgoAAAANSUhEUgAAA+gAAAH0";

/// The beginning of another one of that size, which has a segment of four bytes before its frame.
const JPEG: &str = "/9j/4AAGSkZJRv/AABEIAfQD6AMBIgAA";

fn url(at: &str) -> Value {
    json!({"type": "image_url", "image_url": {"url": at}})
}

/// A picture as OpenAI's models get it: they are told how closely to look.
fn seen(at: &str) -> Value {
    json!({"type": "image_url", "image_url": {"url": at, "detail": "high"}})
}

fn inline() -> Value {
    // What a client says of the data is not always so.
    json!({"type": "image", "source": {"type": "base64", "media_type": "image/jpeg", "data": PICTURE}})
}

/// Bytes in base64, with line ends behind them where it would need padding.
fn encoded(mut bytes: Vec<u8>) -> String {
    bytes.resize(bytes.len().next_multiple_of(3), b'\n');
    let six =
        |three: &[u8], at: u32| (three.iter().fold(0_u32, |bits, byte| (bits << 8) | u32::from(*byte)) >> at) & 63;
    let digit =
        |value: u32| b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"[value as usize] as char;
    bytes.chunks(3).flat_map(|three| [18, 12, 6, 0].map(|at| digit(six(three, at)))).collect()
}

/// A PDF of two pages, in base64.
fn pdf() -> String {
    encoded(
        b"%PDF-1.4\n1 0 obj <</Type/Pages>> endobj 2 0 obj <</Type/Page>> endobj 3 0 obj <</Type/Page>> endobj"
            .to_vec(),
    )
}

fn board_with(said: &[(&str, Value)]) -> Board {
    let mut board = Board::team("lead writer");
    said.iter().for_each(|(who, message)| say(&mut board, who, message));
    board
}

fn say(board: &mut Board, who: &str, message: &Value) {
    let messages: Vec<NewMessage> = serde_json::from_value(json!([message])).unwrap();
    let said = AddMessages { thread: "main".parse().unwrap(), messages };
    match who {
        "user" => board.user(said).map(|_| ()).unwrap(),
        agent => board.by(agent, said).map(|_| ()).unwrap(),
    }
}

fn spec(board: &Board, format: Format, budget: u64, media: Option<u8>) -> ResolvedSpec {
    let profile = Some(Profile { media, ..Profile::default() });
    let spec = ResolvedSpec::new("lead".parse().unwrap(), "main".parse().unwrap(), Tokens(budget), board.count);
    ResolvedSpec { format, profile, ..spec }
}

fn ask(board: &Board, format: Format, budget: u64, media: Option<u8>) -> Prompt {
    let prompt = board.prompt_for("lead", &spec(board, format, budget, media), 3).unwrap();
    assert!(prompt.tokens <= prompt.budget, "{} of {}", prompt.tokens, prompt.budget);
    prompt
}

/// The last thing that is said.
fn last(prompt: &Prompt) -> Value {
    let said = match &prompt.body {
        Body::Messages(messages) | Body::Anthropic { messages, .. } => messages,
        Body::Responses { input, .. } => input,
        Body::Text(text) => return json!(text),
    };
    said.last().unwrap()["content"].clone()
}

/// How many pictures a prompt shows.
fn shown(prompt: &Prompt) -> usize {
    let body = serde_json::to_string(&prompt.body).unwrap();
    body.matches(r#""type":"image_url""#).count() + body.matches(r#""type":"image""#).count()
}

#[test]
fn pictures_go_out_in_the_form_of_each_format() {
    let text = |text: &str| json!({"type": "text", "text": text});
    let content = json!([text("Look:"), inline(), text("and"), url("https://example.com/a.png")]);
    let board = board_with(&[("user", json!({"role": "user", "content": content}))]);
    let data = format!("data:image/png;base64,{PICTURE}");
    assert_eq!(
        last(&ask(&board, Format::OpenAi, 20_000, None)),
        json!([text("Look:"), seen(&data), text("and"), seen("https://example.com/a.png")])
    );
    let gemini = ResolvedSpec { provider: Provider::Gemini, ..spec(&board, Format::OpenAi, 20_000, None) };
    let others = last(&board.prompt_for("lead", &gemini, 3).unwrap());
    assert_eq!((&others[1], &others[3]), (&url(&data), &url("https://example.com/a.png")));
    let input = |text: &str| json!({"type": "input_text", "text": text});
    let image = |url: &str| json!({"type": "input_image", "image_url": url, "detail": "high"});
    assert_eq!(
        last(&ask(&board, Format::Responses, 20_000, None)),
        json!([input("Look:"), image(&data), input("and"), image("https://example.com/a.png")])
    );
    let anthropic = last(&ask(&board, Format::Anthropic, 20_000, None));
    let source = json!({"type": "base64", "media_type": "image/png", "data": PICTURE});
    assert_eq!(anthropic[1], json!({"type": "image", "source": source}));
    assert_eq!(anthropic[3]["source"], json!({"type": "url", "url": "https://example.com/a.png"}));
    let plain = last(&ask(&board, Format::Text, 20_000, None));
    let lines: Vec<_> = plain.as_str().unwrap().lines().filter(|line| line.contains("not shown")).collect();
    assert_eq!(lines.len(), 2, "{plain}");
    assert!(lines[0].starts_with("[image not shown; it is message m") && lines[0].ends_with(" of thread main]"));
}

#[test]
fn the_newest_pictures_are_shown_and_the_others_say_how_to_get_them() {
    let picture = |n: usize| {
        let place = format!("https://example.com/{n}.png");
        ("user", json!({"role": "user", "content": [{"type": "text", "text": "see"}, url(&place)]}))
    };
    let mut board = board_with(&(0..6).map(picture).collect::<Vec<_>>());
    for (format, media, most) in [Format::OpenAi, Format::Responses, Format::Anthropic]
        .map(|format| [(format, None, 4), (format, Some(1), 1)])
        .concat()
    {
        let prompt = ask(&board, format, 100_000, media);
        let body = serde_json::to_string(&prompt.body).unwrap();
        let at = |n: usize| body.contains(&format!("https://example.com/{n}.png"));
        assert_eq!((0..6).map(at).collect::<Vec<_>>(), (0..6).map(|n| n + most >= 6).collect::<Vec<_>>());
        assert_eq!(body.matches("[image_url not shown; it is message m").count(), 6 - most, "{body}");
    }
    assert_eq!(shown(&ask(&board, Format::OpenAi, 100_000, Some(0))), 0);
    let tools = own_names(&["callboard:read_message".to_owned()]).unwrap();
    let spec = ResolvedSpec { tools, ..spec(&board, Format::Anthropic, 100_000, None) };
    let mut kept = None;
    let prompt = board.prompt_from(&mut kept, "lead", &spec).unwrap();
    let body = serde_json::to_string(&prompt.body).unwrap();
    assert_eq!(body.matches("of thread main with `read_message`]").count(), 2, "{body}");
    // What is kept of a prompt shows another picture less, as one that is made anew does.
    let (who, message) = picture(6);
    say(&mut board, who, &message);
    let [read_on, anew] = [&mut kept, &mut None].map(|kept| board.prompt_from(kept, "lead", &spec).unwrap());
    assert_eq!(read_on, anew);
    assert_eq!(shown(&anew), 4);
}

#[test]
fn pictures_of_results_go_out_where_each_format_takes_them() {
    let content = json!([{"type": "text", "text": "done"}, inline()]);
    let board = board_with(&[
        ("user", json!({"role": "user", "content": "Draw."})),
        ("lead", json!({"role": "assistant", "tool_calls": [{"id": "c1", "name": "draw", "arguments": {}}]})),
        ("lead", json!({"role": "tool", "tool_call_id": "c1", "content": content})),
    ]);
    let result = last(&ask(&board, Format::Anthropic, 20_000, None))[0].clone();
    assert_eq!(result["type"], "tool_result");
    // The provider's count of a picture teaches nothing of texts.
    let learns = |media| {
        let record = ask(&board, Format::Anthropic, 20_000, media).record();
        let record = PromptRecord { factor: Some(Factor::ONE), ..record };
        record.report("anthropic:claude-sonnet-4-5", 1000).is_some()
    };
    assert_eq!([learns(None), learns(Some(0))], [false, true]);
    assert_eq!((&result["content"][0]["text"], &result["content"][1]["type"]), (&json!("done"), &json!("image")));
    let Body::Responses { input, .. } = ask(&board, Format::Responses, 20_000, None).body else { unreachable!() };
    let data = format!("data:image/png;base64,{PICTURE}");
    let shown = json!({"type": "input_image", "image_url": data, "detail": "high"});
    assert_eq!(input.last().unwrap()["output"], json!([{"type": "input_text", "text": "done"}, shown]));
    let blind = ResolvedSpec { provider: Provider::DeepSeek, ..spec(&board, Format::OpenAi, 20_000, None) };
    let chat = last(&board.prompt_for("lead", &blind, 3).unwrap());
    assert!(chat.as_str().unwrap().starts_with("done\n[image not shown; it is message m"), "{chat}");
}

#[test]
fn pictures_of_results_stand_in_one_message_behind_them_where_results_are_text() {
    let call = |id: &str| json!({"id": id, "name": "draw", "arguments": {}});
    let result =
        |id: &str| json!({"role": "tool", "tool_call_id": id, "content": [{"type": "text", "text": id}, inline()]});
    let board = board_with(&[
        ("user", json!({"role": "user", "content": "Draw."})),
        ("lead", json!({"role": "assistant", "tool_calls": [call("c1"), call("c2")]})),
        ("lead", result("c1")),
        ("lead", result("c2")),
    ]);
    for provider in [Provider::OpenAi, Provider::Anthropic, Provider::Gemini] {
        let spec = ResolvedSpec { provider, ..spec(&board, Format::OpenAi, 20_000, None) };
        let Body::Messages(said) = board.prompt_for("lead", &spec, 3).unwrap().body else { unreachable!() };
        let [.., first, second, behind] = said.as_slice() else { unreachable!() };
        for (id, message) in [("c1", first), ("c2", second)] {
            let content = format!("{id}\n[shown in the message behind the results]");
            assert_eq!((&message["role"], &message["content"]), (&json!("tool"), &json!(content)));
        }
        let data = format!("data:image/png;base64,{PICTURE}");
        let picture = if provider == Provider::OpenAi { seen(&data) } else { url(&data) };
        let note = json!({"type": "text", "text": "[what the results above show]"});
        assert_eq!(*behind, json!({"role": "user", "content": [note, picture, picture]}), "{provider:?}");
    }
}

#[test]
fn a_picture_is_named_where_there_is_no_room_for_it_or_no_provider_takes_it() {
    let picture = |at: &str| board_with(&[("user", json!({"role": "user", "content": [url(at)]}))]);
    let board = picture("https://example.com/a.png");
    for format in [Format::OpenAi, Format::Responses, Format::Anthropic] {
        assert_eq!([3800, 20_000].map(|budget| shown_in(&board, format, budget)), [0, 1], "{format:?}");
    }
    for odd in ["http://example.com/a.png", "file:///a.png", "data:image/png;base64,aGk=", "data:image/svg+xml,<svg/>"]
    {
        assert_eq!(shown_in(&picture(odd), Format::OpenAi, 20_000), 0, "{odd}");
    }
    let own = board_with(&[
        ("user", json!({"role": "user", "content": "Draw."})),
        ("lead", json!({"role": "assistant", "content": [{"type": "text", "text": "There."}, inline()]})),
    ]);
    assert_eq!(shown_in(&own, Format::Anthropic, 20_000), 0);
    let spec = ResolvedSpec { provider: Provider::OpenAiText, ..spec(&board, Format::OpenAi, 20_000, Some(4)) };
    assert_eq!(shown(&board.prompt_for("lead", &spec, 3).unwrap()), 0);
}

fn shown_in(board: &Board, format: Format, budget: u64) -> usize {
    let prompt = ask(board, format, budget, None);
    let body = serde_json::to_string(&prompt.body).unwrap();
    // In the Responses API pictures have a name of their own.
    shown(&prompt) + body.matches(r#""type":"input_image""#).count()
}

#[test]
fn a_picture_costs_what_its_size_comes_to_and_the_most_where_that_is_not_known() {
    let source = json!({"type": "base64", "media_type": "image/png", "data": PICTURE});
    let (png, jpeg) = (format!("data:image/png;base64,{PICTURE}"), format!("data:image/jpeg;base64,{JPEG}"));
    let address = "https://example.com/a.png";
    let sizes = [
        json!({"type": "image", "source": source}),
        json!({"type": "image", "source": {"type": "url", "url": address}}),
        seen(&png),
        seen(&jpeg),
        seen(address),
        url(&png),
        url(address),
        json!({"type": "text", "text": "no picture"}),
    ];
    assert_eq!(sizes.map(|part| media::tokens(&part).0), [667, 4784, 1260, 1260, 3779, 2064, 6192, 0]);
}

/// The examples that providers document: none is counted too low.
#[test]
fn a_picture_costs_no_less_than_each_provider_documents() {
    let sized = |width: u32, height: u32| {
        // The first bytes of a PNG: its mark, the length and the name of its first piece, and its size.
        let mut head = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
        head.extend([width, height].map(u32::to_be_bytes).concat());
        head.extend([8, 6, 0]);
        encoded(head)
    };
    let cost = |width: u32, height: u32| {
        let data = sized(width, height);
        let anthropic = json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}});
        let inline = format!("data:image/png;base64,{data}");
        [anthropic, seen(&inline), url(&inline)].map(|part| media::tokens(&part).0)
    };
    // Anthropic: 1,000 by 1,000 are 1,296; OpenAI: 1,024 by 1,024 are 765, or 1,024 times up to 2.46; Gemini: 960 by 540 are 1,548.
    for (size, least) in [
        ((1000, 1000), [1296, 765, 1120]),
        ((1024, 1024), [1369, 2520, 2520]),
        ((2048, 4096), [4784, 3779, 4784]),
        ((1800, 2400), [4784, 3572, 4784]),
        ((960, 540), [700, 425, 1548]),
        ((8000, 1002), [4784, 3779, 6192]),
        ((100, 100), [16, 255, 1120]),
    ] {
        let cost = cost(size.0, size.1);
        assert!(cost.iter().zip(least).all(|(cost, least)| *cost >= least), "{size:?}: {cost:?}");
    }
    assert_eq!(cost(100, 100), [16, 255, 1120]);
    assert_eq!(cost(8000, 8000), [4784, 3779, 4784]);
}

#[test]
fn a_large_picture_is_named_where_anthropic_is_given_many() {
    // The beginning of a picture of 4,096 by 500 pixels.
    let large = "iVBORw0KGgoAAAANSUhEUgAAEAAAAAH0";
    let picture = json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": large}});
    let board = board_with(&[("user", json!({"role": "user", "content": [picture]}))]);
    let shows = |format, media| shown(&ask(&board, format, 20_000, Some(media)));
    assert_eq!([20, 21].map(|media| shows(Format::Anthropic, media)), [1, 0]);
    assert_eq!(shows(Format::OpenAi, 21), 1);
}

#[test]
fn audio_goes_out_to_models_that_hear() {
    // Its header says that it has 8,000 bytes a second; it has 8,048 characters.
    let wav = "UklGRgAAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgA".to_owned() + &"A".repeat(8000);
    let audio =
        |data: &str, format: &str| json!({"type": "input_audio", "input_audio": {"data": data, "format": format}});
    let content = json!([{"type": "text", "text": "Listen:"}, audio(&wav, "wav"), url("https://example.com/a.png")]);
    let board = board_with(&[("user", json!({"role": "user", "content": content}))]);
    let kinds = |provider| {
        let spec = ResolvedSpec { provider, ..spec(&board, Format::OpenAi, 20_000, None) };
        let said = last(&board.prompt_for("lead", &spec, 3).unwrap());
        let kind = |part: &Value| part["type"].as_str().unwrap().to_owned();
        said.as_array().into_iter().flatten().map(kind).collect::<Vec<_>>().join(" ")
    };
    let of_providers = [Provider::OpenAi, Provider::OpenAiAudio, Provider::Gemini, Provider::DeepSeek].map(kinds);
    let expected = ["text image_url", "text input_audio text", "text input_audio image_url", ""];
    assert_eq!(of_providers, expected);
    // It says that it has 4 GB a second.
    let short = format!("UklGRgAAAABXQVZFZm10IBAAAAABAAEAQB8AAP////8BAAgA{}", "A".repeat(8000));
    let sounds = [audio(&wav, "wav"), audio(&short, "wav"), audio("SUQzBAAA", "mp3"), audio("SUQzBAAA", "wav")];
    assert_eq!(sounds.map(|part| media::tokens(&part).0), [64, 64, 32, 0]);
}

#[test]
fn pdfs_go_out_in_the_form_of_each_format() {
    let (data, name) = (pdf(), "report 1.pdf");
    let inline = format!("data:application/pdf;base64,{data}");
    let file = json!({"type": "file", "file": {"filename": name, "file_data": inline}});
    let item = json!({"type": "input_file", "filename": name, "file_data": inline});
    let source = json!({"type": "base64", "media_type": "application/pdf", "data": data});
    let cited = json!({"enabled": true});
    let document = json!({"type": "document", "source": source, "title": name, "citations": cited});
    let read = json!({"type": "text", "text": "Read:"});
    for given in [&file, &item, &document] {
        let board = board_with(&[("user", json!({"role": "user", "content": [read, given]}))]);
        let of = |format| last(&ask(&board, format, 40_000, None));
        assert_eq!(of(Format::OpenAi), json!([read, file]));
        assert_eq!(of(Format::Responses), json!([{"type": "input_text", "text": "Read:"}, item]));
        let anthropic = of(Format::Anthropic);
        let block = &anthropic[1];
        assert_eq!((&block["type"], &block["source"], &block["title"]), (&json!("document"), &source, &json!(name)));
        assert_eq!([block.get("pages"), block.get("citations")], [None, None]);
        let line = " report 1.pdf not shown; it is message m";
        assert!(of(Format::Text).as_str().unwrap().contains(line));
        // Two pages are more than there is room for.
        let small = last(&ask(&board, Format::OpenAi, 15_000, None));
        assert!(small.as_str().unwrap().contains(line), "{small}");
        // The provider's count of a PDF teaches nothing of texts.
        assert!(ask(&board, Format::OpenAi, 40_000, None).record().has_media);
        for provider in [
            Provider::OpenAiText,
            Provider::OpenAiAudio,
            Provider::Anthropic,
            Provider::Gemini,
            Provider::Mistral,
            Provider::Unknown,
        ] {
            let spec = ResolvedSpec { provider, ..spec(&board, Format::OpenAi, 40_000, Some(4)) };
            let said = last(&board.prompt_for("lead", &spec, 3).unwrap());
            assert!(said.as_str().unwrap().contains(line), "{provider:?}: {said}");
        }
    }
}

#[test]
fn a_pdf_in_a_result_goes_out_with_it() {
    let file = json!({"type": "file", "file": {"filename": "a.pdf", "file_data": pdf()}});
    let board = board_with(&[
        ("user", json!({"role": "user", "content": "Fetch it."})),
        ("lead", json!({"role": "assistant", "tool_calls": [{"id": "c1", "name": "fetch", "arguments": {}}]})),
        ("lead", json!({"role": "tool", "tool_call_id": "c1", "content": [{"type": "text", "text": "done"}, file]})),
    ]);
    let result = last(&ask(&board, Format::Anthropic, 40_000, None))[0].clone();
    let document = &result["content"][1];
    assert_eq!((&document["type"], document.get("pages")), (&json!("document"), None));
    let Body::Responses { input, .. } = ask(&board, Format::Responses, 40_000, None).body else { unreachable!() };
    assert_eq!(input.last().unwrap()["output"][1]["type"], "input_file");
    let behind = last(&ask(&board, Format::OpenAi, 40_000, None));
    assert_eq!(behind[1]["file"]["file_data"], format!("data:application/pdf;base64,{}", pdf()));
}

#[test]
fn a_pdf_at_an_address_goes_out_where_there_is_room_for_a_hundred_pages() {
    let at = |url: &str| json!({"type": "document", "source": {"type": "url", "url": url}});
    let shown_of = |part: &Value, format, budget| {
        let board = board_with(&[("user", json!({"role": "user", "content": [part]}))]);
        let body = serde_json::to_string(&ask(&board, format, budget, None).body).unwrap();
        body.contains("https://example.com/a.pdf")
    };
    let formats = [Format::OpenAi, Format::Responses, Format::Anthropic];
    for (part, expected) in
        [(&at("https://example.com/a.pdf"), [false, true, true]), (&at("http://example.com/a.pdf"), [false; 3])]
    {
        assert_eq!(formats.map(|format| shown_of(part, format, 900_000)), expected, "{part}");
        assert_eq!(formats.map(|format| shown_of(part, format, 100_000)), [false; 3], "{part}");
    }
    let document = json!({"type": "document", "source": {}, "title": "ab", "context": "cde", "pages": 3});
    assert_eq!(media::tokens(&document).0, 3 * 7784 + 5);
}

/// What stands for a part between two texts in a prompt for `provider`. None where that is the line that names it.
fn between(part: &Value, (format, provider): (Format, Provider), budget: u64) -> Option<Value> {
    let text = |text: &str| json!({"type": "text", "text": text});
    let said = json!({"role": "user", "content": [text("Look:"), part, text("What is it?")]});
    let board = board_with(&[("user", said)]);
    let spec = ResolvedSpec { provider, ..spec(&board, format, budget, Some(4)) };
    let prompt = board.prompt_for("lead", &spec, 3).unwrap();
    assert!(prompt.tokens <= prompt.budget, "{} of {}", prompt.tokens, prompt.budget);
    let shown = last(&prompt).get(1).cloned();
    let body = serde_json::to_string(&prompt.body).unwrap();
    assert_eq!(shown.is_none(), body.contains(" not shown; it is message m"), "{body}");
    shown
}

#[test]
fn what_was_uploaded_goes_out_by_its_id_where_the_format_can_name_it() {
    let source = json!({"type": "file", "file_id": "file_1"});
    let image = json!({"type": "image", "source": source});
    let document = json!({"type": "document", "source": source, "title": "Tides", "context": "of 2026"});
    let input_image = json!({"type": "input_image", "file_id": "file-1", "detail": "high"});
    let input_file = json!({"type": "input_file", "file_id": "file-1"});
    let file = json!({"type": "file", "file": {"file_id": "file-1"}});
    let word_file = json!({"type": "file", "file": {"file_id": "file-1", "filename": "a.docx"}});
    let without_address = json!({"type": "input_image", "image_url": null, "file_id": "file-1"});
    let hidden = json!({"type": "input_image", "file_id": "file-[hidden]"});
    let (files, none) = ([Some(&file), Some(&input_file), None], [None; 3]);
    for (part, expected) in [
        (&image, [None, None, Some(&image)]),
        (&document, [None, None, Some(&document)]),
        (&input_image, [None, Some(&input_image), None]),
        (&without_address, [None, Some(&input_image), None]),
        (&hidden, none),
        (&file, files),
        (&input_file, files),
        (&word_file, [None, Some(&input_file), None]),
    ] {
        let formats = [Format::OpenAi, Format::Responses, Format::Anthropic];
        let shown = formats.map(|format| between(part, (format, Provider::OpenAi), 100_000));
        assert_eq!(shown.each_ref().map(Option::as_ref), expected, "{part}");
        // The ids of one provider say nothing to another.
        for other in [Provider::Gemini, Provider::Unknown, Provider::OpenAiText] {
            assert_eq!(between(part, (Format::Responses, other), 100_000), None, "{part} {other:?}");
        }
    }
    assert_eq!(between(&image, (Format::Anthropic, Provider::Anthropic), 100_000), Some(image));
}

#[test]
fn what_was_uploaded_costs_the_most_of_a_picture_or_five_pages() {
    let source = json!({"type": "file", "file_id": "file_1"});
    let image = json!({"type": "image", "source": source});
    let input_image = json!({"type": "image_url", "image_url": {"file_id": "file-1", "detail": "high"}});
    assert_eq!([&image, &input_image].map(|part| media::tokens(part).0), [4784, 3779]);
    let document = json!({"type": "document", "source": source});
    let anthropic = (Format::Anthropic, Provider::Anthropic);
    for (part, least) in [(&image, 4784), (&document, 5 * 7784)] {
        let shown = [least, least + 10_000].map(|budget| between(part, anthropic, budget).is_some());
        assert_eq!(shown, [false, true], "{part}");
    }
}

#[test]
fn of_what_was_uploaded_the_newest_is_shown_too() {
    let picture = |id: &str| {
        let source = json!({"type": "file", "file_id": id});
        ("user", json!({"role": "user", "content": [{"type": "image", "source": source}]}))
    };
    let board = board_with(&[picture("file_1"), picture("file_2")]);
    let body = serde_json::to_string(&ask(&board, Format::Anthropic, 100_000, Some(1)).body).unwrap();
    assert_eq!(["file_1", "file_2"].map(|id| body.contains(id)), [false, true], "{body}");
}

#[test]
fn what_was_uploaded_is_shown_in_a_result() {
    let image = json!({"type": "input_image", "file_id": "file-1"});
    let board = board_with(&[
        ("user", json!({"role": "user", "content": "Draw."})),
        ("lead", json!({"role": "assistant", "tool_calls": [{"id": "c1", "name": "draw", "arguments": {}}]})),
        ("lead", json!({"role": "tool", "tool_call_id": "c1", "content": [{"type": "text", "text": "done"}, image]})),
    ]);
    let Body::Responses { input, .. } = ask(&board, Format::Responses, 40_000, None).body else { unreachable!() };
    let shown = json!({"type": "input_image", "file_id": "file-1", "detail": "high"});
    assert_eq!(input.last().unwrap()["output"], json!([{"type": "input_text", "text": "done"}, shown]));
}
