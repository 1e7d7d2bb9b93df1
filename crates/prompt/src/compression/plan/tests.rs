//! Which summaries are good, and what is listed after them.

use callboard_core::{
    conversation::{AddMessages, NewMessage, ToolCall},
    plan::PutPlan,
    prompt::LayoutName,
    testing::Board,
};
use serde_json::json;

use crate::{compression::plan::*, testing::Shows as _};

/// Two hundred nodes are spoken of, and then named again: the first half, and last the second half.
fn talk_of_nodes() -> (Board, Box<CompressionPlan>) {
    let mut board = Board::team("lead writer");
    let main: ThreadId = "main".parse().unwrap();
    let names = |from: u64| (from..from + 100).map(|number| format!("node_{number}")).collect::<Vec<_>>().join(", ");
    let told = (0..200).map(|number| format!("Opened node_{number}, and the tide was high on that day as on most."));
    let all = told.chain([format!("Keep in mind {}.", names(0)), format!("What of {}?", names(100))]);
    let messages = all.map(|text| NewMessage::text(Role::User, text)).collect();
    board.user(AddMessages { thread: main.clone(), messages }).unwrap();
    let aim = Aim { target: Tokens(2000), keep_recent: None };
    let Outlook::Compress(plan) = board.plan(&main, CompressionScope::default(), aim).unwrap() else {
        panic!("there is enough to compress")
    };
    (board, plan)
}

#[test]
fn what_a_summary_does_not_hold_is_listed_after_it_the_newest_first_and_the_rest_is_counted() {
    let (board, plan) = talk_of_nodes();
    assert!(plan.needed.len() > 180, "{:?}", plan.needed);
    let older = plan.needed.iter().find(|one| one.len() < "node_100".len());
    assert_eq!(older.map(|one| &**one), Some("node_1"), "what was named before comes last; node_0 stands beside it");
    let summary = plan.check("They opened node_101.", board.count).unwrap();
    let listed: Vec<&str> = summary.identifiers.iter().map(|one| &**one).collect();
    assert_eq!(listed[..3], ["node_100", "node_102", "node_103"]);
    assert_eq!(listed.len() as u64 + summary.more_identifiers, plan.needed.len() as u64 - 1);
    assert!(summary.more_identifiers > 0 && listed.len() > 20, "{listed:?}");
    // The list has a tenth of the target.
    let lines: String = listed.iter().map(|one| format!("- {one}\n")).collect();
    assert!(board.count.count(&lines) <= Tokens(200), "{lines}");
    assert!(summary.tokens_after <= Tokens(2000));
}

#[test]
fn a_summary_that_is_empty_or_too_long_is_refused() {
    let (board, plan) = talk_of_nodes();
    assert_eq!(plan.check(" \n", board.count), Err(Shortcoming::Empty));
    let refused = plan.check(&"the tide and ".repeat(5000), board.count).unwrap_err();
    let Shortcoming::TooLong { tokens, allowed } = refused else { panic!("{refused}") };
    assert!(tokens > allowed && allowed == plan.allowed_text() && allowed < Tokens(2000));
    let extract = plan.extract(board.count).unwrap();
    assert_eq!(plan.check(&extract.text, board.count).unwrap(), extract, "the extract is held to the same");
}

/// What an agent does for long, with the same words again and again.
fn steps(board: &mut Board, from: u64) {
    let step = |number| NewMessage::text(Role::Ai, format!("Next I fix src/a{number}.rs, step {number}."));
    let messages = (from..from + 150).map(step).collect();
    board.user(AddMessages { thread: ThreadId::main(), messages }).unwrap();
}

fn ask(board: &mut Board, text: &str) {
    let messages = vec![NewMessage::text(Role::User, text)];
    board.user(AddMessages { thread: ThreadId::main(), messages }).unwrap();
}

#[test]
fn the_task_is_kept_word_for_word_through_three_rounds() {
    let mut board = Board::team("lead writer");
    ask(&mut board, "Migrate the shop to Postgres 17. Never touch the table invoices.");
    for round in 0..3 {
        steps(&mut board, round * 1000);
        ask(&mut board, &format!("In round {round}, leave the ids of customers as they are."));
        steps(&mut board, round * 1000 + 200);
        (0..20).for_each(|_| ask(&mut board, "Go on."));
        steps(&mut board, round * 1000 + 400);
        let aim = Aim { target: Tokens(1500), keep_recent: None };
        assert!(board.compress("main", aim).unwrap().is_some());
        let prompt = board.prompt("lead", "main", 100_000).unwrap().text();
        assert!(prompt.contains("Migrate the shop to Postgres 17. Never touch the table invoices."), "{prompt}");
        for asked in 0..=round {
            assert!(prompt.contains(&format!("In round {asked}, leave the ids of customers as they are.")), "{prompt}");
        }
    }
}

#[test]
fn a_long_task_is_shortened_in_place_and_has_a_third_of_the_target() {
    let mut board = Board::team("lead writer");
    ask(&mut board, &format!("BEGINNING {} END", "and mind the tide ".repeat(2000)));
    (0..4).for_each(|round| steps(&mut board, round * 1000));
    let aim = Aim { target: Tokens(3000), keep_recent: None };
    let Outlook::Compress(plan) = board.plan(&ThreadId::main(), CompressionScope::default(), aim).unwrap() else {
        panic!()
    };
    assert_eq!((plan.kept.len(), plan.kept_tokens), (1, Tokens(1000)));
    board.compress("main", aim).unwrap();
    let prompt = board.prompt("lead", "main", 100_000).unwrap();
    assert!(prompt.text().contains("BEGINNING and mind"), "{}", prompt.text());
    assert!(prompt.tokens < Tokens(4000), "{}", prompt.tokens);
}

#[test]
fn in_a_thread_without_the_user_the_first_speaker_says_what_is_to_be_done() {
    let mut board = Board::team("lead writer");
    let thread: ThreadId = "agent:writer".parse().unwrap();
    let say = |board: &mut Board, agent: &str, text: String| {
        let messages = vec![NewMessage::text(Role::Ai, text)];
        board.by(agent, AddMessages { thread: thread.clone(), messages }).unwrap();
    };
    say(&mut board, "lead", "Write of the tides. Do not name the moon.".to_owned());
    (0..200).for_each(|number| say(&mut board, "writer", format!("Line {number}: the sea comes and goes, and so on.")));
    let aim = Aim { target: Tokens(1000), keep_recent: None };
    board.compress("agent:writer", aim).unwrap().unwrap();
    let prompt = board.prompt("writer", "agent:writer", 100_000).unwrap().text();
    assert!(prompt.contains("Write of the tides. Do not name the moon."), "{prompt}");
}

#[test]
fn what_a_program_tells_the_agent_as_which_it_works_is_said_by_its_user() {
    for (team, user) in [("lead writer", "writer's user"), ("writer", "user")] {
        check_speakers(Board::team(team), user);
    }
}

/// In a conversation of the writer's with a program, `user` is who speaks for that.
fn check_speakers(mut board: Board, user: &str) {
    let thread: ThreadId = "chat:writer".parse().unwrap();
    let first = vec![NewMessage::text(Role::User, "Hello.")];
    board.user(AddMessages { thread: thread.clone(), messages: first }).unwrap();
    for number in 0..100 {
        let asked = NewMessage::text(Role::User, format!("What of boat {number}, which came with the tide at noon?"));
        let answered = NewMessage::text(Role::Ai, format!("Boat {number} lies in the harbour, and so do many more."));
        board.by("writer", AddMessages { thread: thread.clone(), messages: vec![asked, answered] }).unwrap();
    }
    let aim = Aim { target: Tokens(1000), keep_recent: None };
    let Outlook::Compress(plan) = board.plan(&thread, CompressionScope::default(), aim).unwrap() else { panic!() };
    for spoken in plan.said() {
        let expected = match (spoken.message.role, &spoken.message.agent) {
            (Role::User, Some(_)) => user,
            (Role::User, None) => "user",
            _ => "writer",
        };
        assert_eq!(spoken.speaker(), expected, "{}", spoken.transcript());
    }
    assert!(plan.said().any(|spoken| spoken.message.agent.is_some() && spoken.message.role == Role::User));
    let extract = plan.extract(board.count).unwrap();
    assert!(!extract.text.contains("writer: What of boat"), "{}", extract.text);
}

#[test]
fn lines_that_differ_in_their_numbers_alone_are_one_line_with_a_count() {
    let mut board = Board::team("lead writer");
    ask(&mut board, "Mend the shop.");
    let step = |number: u64| NewMessage::text(Role::Ai, format!("Next I fix src/a.rs, step {number}."));
    for round in 0..2 {
        let messages =
            (0..300).map(step).chain([NewMessage::text(Role::Ai, format!("Round {round} was hard."))]).collect();
        board.user(AddMessages { thread: ThreadId::main(), messages }).unwrap();
        board.compress("main", Aim { target: Tokens(1000), keep_recent: None }).unwrap().unwrap();
    }
    let prompt = board.prompt("lead", "main", 100_000).unwrap().text();
    let (_, summary) = prompt.split_once("<CONVERSATION_SUMMARY").unwrap();
    let (summary, _) = summary.split_once("</CONVERSATION_SUMMARY").unwrap();
    assert_eq!(summary.matches("Next I fix").count(), 1, "{summary}");
    // The newest of them stand word for word behind it.
    let shown = prompt.matches("Next I fix").count() - 1;
    assert!(summary.contains(&format!("(×{})", 600 - shown)), "{shown} {summary}");
    assert!(summary.contains("Round 0 was hard.") && !summary.contains("Mend the shop."), "{summary}");
    assert!(prompt.contains("Mend the shop."), "it stands beside the summary");
}

#[test]
fn two_lines_that_are_equal_to_the_letter_are_one_line_with_a_count() {
    let mut board = Board::team("lead writer");
    ask(&mut board, "Mend the shop.");
    for round in ["first", "second"] {
        let messages = vec![
            NewMessage::text(Role::Ai, format!("The {round} window is whole.")),
            NewMessage::text(Role::Ai, "The door is closed."),
        ];
        board.user(AddMessages { thread: ThreadId::main(), messages }).unwrap();
    }
    steps(&mut board, 0);
    let summary = planned(&board, CompressionScope::default(), 1000).extract(board.count).unwrap();
    let text = &*summary.text;
    assert_eq!(text.matches("The door is closed.").count(), 1, "{text}");
    assert!(text.contains("The door is closed. (×2)") && text.contains("The first window is whole."), "{text}");
}

fn say(board: &mut Board, agent: &str, text: String) {
    let messages = vec![NewMessage::text(Role::Ai, text)];
    board.by(agent, AddMessages { thread: ThreadId::main(), messages }).unwrap();
}

fn planned(board: &Board, scope: CompressionScope, target: u64) -> Box<CompressionPlan> {
    let aim = Aim { target: Tokens(target), keep_recent: None };
    match board.plan(&ThreadId::main(), scope, aim).unwrap() {
        Outlook::Compress(plan) => plan,
        Outlook::Enough(tokens) => panic!("{tokens} are few enough"),
    }
}

#[test]
fn most_of_a_small_target_is_for_the_newest_messages() {
    let mut board = Board::team("lead writer");
    ask(&mut board, "Count the boats.");
    let boat =
        |number: u64| format!("Boat {number} came in with the tide, and its crew was tired and glad to be home.");
    (0..300).for_each(|number| say(&mut board, "writer", boat(number)));
    let aim = Aim { target: Tokens(3150), keep_recent: None };
    board.compress("main", aim).unwrap().unwrap();
    let prompt = board.prompt("lead", "main", 100_000).unwrap();
    let text = prompt.text();
    let (_, newest) = text.split_once("</CONVERSATION_SUMMARY").unwrap();
    // A third of a window of 7,000 tokens.
    assert!(board.count.count(newest) > Tokens(2000), "{newest}");
    assert!(
        prompt.parts.iter().all(|part| part.name != "history" || part.tokens <= Tokens(3150)),
        "{:?}",
        prompt.parts
    );
}

#[test]
fn the_room_that_a_summary_may_have_is_used() {
    let mut board = Board::team("lead writer");
    ask(&mut board, "Count the boats.");
    // No two lines differ in numbers alone.
    let name =
        |number: u64| number.to_string().bytes().map(|digit| char::from(digit - b'0' + b'a')).collect::<String>();
    let boat = |number| format!("Boat {} came in with the tide, and its crew was glad to be home.", name(number));
    (0..600).for_each(|number| say(&mut board, "writer", boat(number)));
    for target in [3150, 8000] {
        let after = planned(&board, CompressionScope::default(), target).extract(board.count).unwrap().tokens_after.0;
        // All but the tenth for what is named later, of which there is nothing here, and less than two lines.
        assert!(after <= target && after + target / 10 + 60 >= target, "{after} of {target}");
    }
}

#[test]
fn what_the_plan_names_is_in_the_summary_or_listed_behind_it() {
    let mut board = Board::team("lead");
    ask(&mut board, "Sign in to the mail.");
    let found = NewMessage::text(Role::Ai, "The address is filled in by node_124, and the password by node_200.");
    board.user(AddMessages { thread: ThreadId::main(), messages: vec![found] }).unwrap();
    steps(&mut board, 0);
    let needs = |board: &Board, name: &str| {
        planned(board, CompressionScope::default(), 1000).needed.iter().any(|one| **one == *name)
    };
    assert!(!needs(&board, "node_124"));
    let plan = serde_json::from_str(include_str!("../../../../core/src/plan/tests/example.json")).unwrap();
    board.user(PutPlan { plan, reason: "to begin".into(), expected_version: None }).unwrap();
    assert!(needs(&board, "node_124") && !needs(&board, "node_200"), "the plan names the one alone");
    let summary = planned(&board, CompressionScope::default(), 1000).check("They fix it.", board.count).unwrap();
    assert!(summary.identifiers.iter().any(|one| **one == *"node_124"), "{summary:?}");
    let extract = planned(&board, CompressionScope::default(), 1000).extract(board.count).unwrap();
    assert!(extract.text.contains("node_124"), "{}", extract.text);
}

#[test]
fn what_is_kept_and_what_is_excerpted_does_not_depend_on_the_language() {
    for [task, step, found, later, assent] in [
        [
            "Перенеси магазин на новый сервер. Таблицу счетов не трогай.",
            "Теперь я чиню файл",
            "Ключ от склада лежит у сторожа.",
            "Номера покупателей оставь как есть, они нужны бухгалтерии.",
            "Давай дальше.",
        ],
        [
            "Zieh den Laden auf den neuen Server um. Die Tabelle der Rechnungen bleibt, wie sie ist.",
            "Jetzt flicke ich die Datei",
            "Den Schlüssel zum Lager hat der Wächter.",
            "Lass die Nummern der Kunden stehen, die Buchhaltung braucht sie.",
            "Nur zu.",
        ],
    ] {
        let mut board = Board::team("lead writer");
        let steps = |board: &mut Board, from: u64| {
            (from..from + 100).for_each(|number| say(board, "writer", format!("{step} {number}.")));
        };
        ask(&mut board, task);
        steps(&mut board, 0);
        say(&mut board, "writer", found.to_owned());
        ask(&mut board, later);
        (0..20).for_each(|_| ask(&mut board, assent));
        steps(&mut board, 100);
        board.compress("main", Aim { target: Tokens(1500), keep_recent: None }).unwrap().unwrap();
        let prompt = board.prompt("lead", "main", 100_000).unwrap().text();
        let (_, summary) = prompt.split_once("<CONVERSATION_SUMMARY").unwrap();
        let (summary, _) = summary.split_once("</CONVERSATION_SUMMARY").unwrap();
        for asked in [task, later] {
            assert!(prompt.contains(asked) && !summary.contains(asked), "it stands beside the summary: {prompt}");
        }
        assert!(summary.contains(found), "{summary}");
        assert!(summary.matches(step).count() == 1 && summary.contains("(×"), "{summary}");
    }
}

#[test]
fn what_the_reader_said_last_is_a_part_of_its_history() {
    let mut board = Board::team("lead writer");
    ask(&mut board, "Count the boats.");
    steps(&mut board, 0);
    let of_lead = |is_alone| CompressionScope { reader: "lead".parse().ok(), is_alone, ..CompressionScope::default() };
    say(&mut board, "lead", "A short word of mine.".to_owned());
    let last = board.state.head.seq;
    let plan = planned(&board, of_lead(false), 1000);
    let summary = plan.extract(board.count).unwrap();
    assert!(plan.through < last && summary.tokens_after <= Tokens(1000), "others may have to answer it: it stays");
    say(&mut board, "lead", "The sea comes and goes. ".repeat(3000));
    let last = board.state.head.seq;
    for is_alone in [false, true] {
        let plan = planned(&board, of_lead(is_alone), 1000);
        let summary = plan.extract(board.count).unwrap();
        assert!(plan.through == last && summary.tokens_after <= Tokens(1000), "there is no room for it");
    }
    assert!(planned(&board, CompressionScope::default(), 1000).through < last, "whoever has to answer it is shown it");
}

#[test]
fn a_reply_a_refusal_and_another_language_are_no_summary_and_thoughts_are_left_out() {
    let (board, plan) = talk_of_nodes();
    let checked = |text: &str| plan.check_written(text, board.count);
    for reply in [
        "Sure! Let me continue.",
        "I’m sorry, but I can't help with that.",
        "<think>Hm.</think>\n\nOkay.",
        "Gerne! Ich mache weiter.",
        "Je ne peux pas vous aider.",
    ] {
        assert_eq!(checked(reply), Err(Shortcoming::Reply), "{reply}");
    }
    assert_eq!(checked("<think>They opened node_101."), Err(Shortcoming::Empty));
    let russian = "Они открыли все узлы по порядку, и прилив был высоким в тот день, как и в другие дни.";
    assert_eq!(checked(russian), Err(Shortcoming::OtherLanguage));
    let good = plan.check("They opened node_101.", board.count);
    assert_eq!(checked("<think>What did they do?</think>They opened node_101."), good);
    assert!(checked("Okay: they opened node_101.").is_ok());
}

#[test]
fn many_open_calls_of_one_answer_are_all_shown_or_listed_and_the_rest_is_counted() {
    for target in [1000, 4000] {
        let mut board = Board::team("lead writer");
        ask(&mut board, "Look at every boat.");
        let call = |number: u64| ToolCall {
            id: format!("boat{number}x"),
            name: "look_at".to_owned(),
            arguments: json!({"number": number, "why": "the tide is high and the boat is old"}),
        };
        let calling = NewMessage { tool_calls: (0..40).map(call).collect(), ..NewMessage::text(Role::Ai, "I look.") };
        board.by("lead", AddMessages { thread: ThreadId::main(), messages: vec![calling] }).unwrap();
        (0..400)
            .for_each(|number| ask(&mut board, &format!("Meanwhile boat {number} came in with the tide, at noon.")));
        board.compress("main", Aim { target: Tokens(target), keep_recent: None }).unwrap().unwrap();
        let prompt = board.prompt("lead", "main", 100_000).unwrap().text();
        let shown = (0..40).filter(|number| prompt.contains(&format!("boat{number}x"))).count();
        assert!(shown == 40 || prompt.contains(&format!("{} more", 40 - shown)), "{shown} of 40: {prompt}");
    }
}

#[test]
fn what_the_system_said_is_in_no_summary_for_prompts_that_do_not_show_it() {
    let mut board = Board::team("lead writer");
    let messages = vec![
        NewMessage::text(Role::System, "The harbour closes at noon."),
        NewMessage::text(Role::User, "Count the boats."),
    ];
    board.user(AddMessages { thread: ThreadId::main(), messages }).unwrap();
    steps(&mut board, 0);
    for (layout, is_told) in [(None, true), (Some(LayoutName::Director), false)] {
        let plan = planned(&board, CompressionScope { layout, ..CompressionScope::default() }, 1000);
        let summary = plan.extract(board.count).unwrap();
        assert_eq!(summary.text.contains("harbour"), is_told, "{}", summary.text);
        assert_eq!(plan.said().any(|spoken| spoken.transcript().contains("harbour")), is_told);
    }
}

#[test]
fn what_another_agent_says_is_told_as_no_result() {
    let mut board = Board::team("lead writer");
    let call = ToolCall { id: "c1".to_owned(), name: "look".to_owned(), arguments: json!({}) };
    let calling = NewMessage { tool_calls: vec![call], ..NewMessage::text(Role::Ai, "I look.") };
    let result = |text: &str| NewMessage { tool_call_id: Some("c1".to_owned()), ..NewMessage::text(Role::Tool, text) };
    let mut say = |by: &str, team: &str, message| {
        board.team_becomes(team);
        board.by(by, AddMessages { thread: ThreadId::main(), messages: vec![message] }).unwrap();
    };
    say("lead", "lead writer", calling);
    // It was the manager then.
    say("writer", "writer lead", result("The harbour burns."));
    say("lead", "lead writer", result("It is calm."));
    steps(&mut board, 0);
    let plan = planned(&board, CompressionScope::default(), 1000);
    let told: String = plan.said().map(Spoken::transcript).collect();
    assert!(told.contains(" writer: The harbour burns.\n") && told.contains(" result of c1: It is calm.\n"), "{told}");
}

/// What is said of a harbour, in German or in English.
const IN_GERMAN: &[&str] = &[
    "Der Hafen liegt hinter der Mauer, und die Boote kommen mit der Flut herein.",
    "Wir haben die Kisten auf dem Steg gezählt, es sind mehr als im letzten Jahr.",
    "Das alte Lager ist zu klein, und der Regen läuft durch das Dach auf die Säcke.",
    "Am Morgen fährt ein Wagen mit dem Fisch in die Stadt, wenn die Straße frei ist.",
    "Die Händler wollen das Salz nicht vor dem Winter, weil es im Keller feucht wird.",
    "Wer die Netze flickt, bekommt den Lohn am Ende der Woche und nicht im Voraus.",
    "Der Wirt hat uns die Schlüssel zu dem Boden gegeben, und wir räumen ihn bald auf.",
    "Es gibt einen Plan für die neue Brücke, aber das Geld ist noch nicht da.",
];
const IN_ENGLISH: &[&str] = &[
    "The harbour lies behind the wall, and the boats come in with the tide.",
    "We have counted the crates on the jetty, and there are more of them than last year.",
    "The old store is too small, and the rain comes through the roof on to the sacks.",
    "In the morning a cart takes the fish to the town, if the road is free of snow.",
    "The merchants do not want the salt before winter, as it gets damp in the cellar.",
    "Who mends the nets is paid at the end of the week and not ahead of it.",
    "The landlord gave us the keys to the attic, and we are going to clear it soon.",
    "There is a plan for the new bridge, but the money for it is not there yet.",
];

#[test]
fn a_summary_is_in_the_language_in_which_most_was_said() {
    for (said, other) in [(IN_GERMAN, IN_ENGLISH), (IN_ENGLISH, IN_GERMAN)] {
        let mut board = Board::team("lead writer");
        (0..400).for_each(|number| ask(&mut board, said[number % said.len()]));
        let plan = planned(&board, CompressionScope::default(), 6000);
        let checked = |lines: &[&str]| plan.check_written(&lines[..6].join(" "), board.count);
        assert!(checked(said).is_ok(), "{said:?}");
        assert_eq!(checked(other), Err(Shortcoming::OtherLanguage));
    }
}

#[test]
fn a_terse_summary_is_one_where_its_words_were_said() {
    let mut board = Board::team("lead writer");
    (0..400).for_each(|number| ask(&mut board, IN_ENGLISH[number % IN_ENGLISH.len()]));
    let plan = planned(&board, CompressionScope::default(), 6000);
    let checked = |text: &str| plan.check_written(text, board.count).map(|_| ());
    let sentence = "They counted the crates, mended the roof of the store and cleared the attic for the landlord.";
    assert_eq!(checked(sentence), Ok(()));
    let telegram = "Harbour behind wall, boats by tide. Crates counted, jetty: more than last year. Store small, rain \
                    through roof. Mornings: cart, fish, town, snow permitting. Merchants refuse salt until winter, \
                    cellar damp. Nets: weekly pay. Landlord: attic keys. Bridge planned, money missing.";
    assert_eq!(checked(telegram), Ok(()));
    for reply in [
        "Sure! Let me continue.",
        "I’m sorry, but I can't help with that.",
        "I will go on with that at once, and tell you when all of it is done.",
        "They talk.",
    ] {
        assert_eq!(checked(reply), Err(Shortcoming::Reply), "{reply}");
    }
}

#[test]
fn a_summary_in_the_script_of_those_who_talk_is_one_whatever_their_files_are_called() {
    let mut board = Board::team("lead writer");
    for round in 0..40 {
        ask(&mut board, "Продолжай, но не трогай таблицу счетов.");
        let step = |number: u64| NewMessage::text(Role::Ai, format!("Next I fix src/harbour{number}.rs, as I said."));
        let messages = (round * 20..round * 20 + 19).map(step).collect();
        board.user(AddMessages { thread: ThreadId::main(), messages }).unwrap();
    }
    let plan = planned(&board, CompressionScope::default(), 3000);
    let checked = |text: &str| plan.check_written(text, board.count).map(|_| ());
    assert_eq!(checked("Файлы чинятся по порядку; таблицу счетов трогать нельзя."), Ok(()));

    let mut board = Board::team("lead writer");
    (0..200).for_each(|_| ask(&mut board, "Почини, пожалуйста, следующий файл в порядке списка."));
    let plan = planned(&board, CompressionScope::default(), 2000);
    let checked = |text: &str| plan.check_written(text, board.count).map(|_| ());
    let paths = |count: usize| (0..count).map(|number| format!("src/harbour/tide{number}.rs ")).collect::<String>();
    assert_eq!(checked(&format!("{}\nФайлы чинятся в порядке списка.", paths(30))), Ok(()));
    assert_eq!(checked(&paths(30)), Err(Shortcoming::OtherLanguage));
}
