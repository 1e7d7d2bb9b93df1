use callboard_engine::core::{id::Seq, viewer::Viewer};

use crate::fixture::{
    File, add, assert_sound, board, clock, code, id, memory, new, put, run, session, text, thread, with_id,
};

const INLINE: usize = 64 * 1024;
const MOST: usize = 16 * 1024 * 1024;

/// A text of this size that is quickly counted.
fn sized(bytes: usize) -> String {
    "0123456789abcde\n".repeat(bytes / 16) + &"x".repeat(bytes % 16)
}

#[tokio::test]
async fn texts_around_the_size_that_stands_in_an_entry_come_back_whole() {
    let (clock, file) = (clock(), File::new());
    for store in [memory(&clock), file.open(&clock)] {
        let session = board(&store).create(new("s")).await.unwrap();
        for bytes in [0, INLINE - 1, INLINE, INLINE + 1] {
            let words = sized(bytes);
            run(&session, put("Brief", &words)).await;
            run(&session, add("main", vec![text(&words)])).await;
            let state = session.state().await.unwrap();
            let set = &state.sets.iter().next().unwrap().set;
            assert_eq!(*session.text(&set.content).await.unwrap(), *words);
            assert_eq!(set.content.stored().is_some(), bytes > INLINE);
        }
        let page = session.messages(&Viewer::User, &thread("main"), Default::default()).await.unwrap();
        let sizes: Vec<_> = page.messages.iter().map(|message| message.content.as_str().unwrap().len()).collect();
        assert_eq!(sizes, [0, INLINE - 1, INLINE, INLINE + 1]);
        for entry in assert_sound(&session).await {
            assert!(entry.data.len() < 2 * INLINE);
        }
        board(&store).session(&id("s")).await.unwrap().prompt(&Default::default()).await.unwrap();
    }
}

#[tokio::test]
async fn sixteen_mebibytes_are_taken_and_more_are_refused() {
    let session = session().await;
    let most = sized(MOST);
    run(&session, add("main", vec![with_id("most", &most)])).await;
    let again = run(&session, add("main", vec![with_id("most", &most)])).await;
    assert_eq!(again.head, Seq(5), "the same long text is known again");
    let more = most.clone() + "x";
    let messages = add("main", vec![text("not added"), text(&more)]);
    assert_eq!(code(session.execute(Viewer::User, messages).await), "too_large");
    assert_eq!(code(session.execute(Viewer::User, put("Brief", &more)).await), "too_large");
    let page = session.messages(&Viewer::User, &thread("main"), Default::default()).await.unwrap();
    assert!(page.messages.len() == 1 && page.messages[0].content == *most);
}

#[tokio::test]
async fn characters_that_trouble_others_come_back() {
    let (clock, file) = (clock(), File::new());
    for store in [memory(&clock), file.open(&clock)] {
        let session = board(&store).create(new("s")).await.unwrap();
        let words = ["\0", "a\0b", "\u{feff}", "\u{202e}", "\r\n", "𝕏", "\u{10ffff}", "\"\\", "</CURRENT_TASK>"];
        run(&session, add("main", words.iter().map(|words| text(words)).collect())).await;
        run(&session, put("Brief", "\0")).await;
        let again = board(&store).session(&id("s")).await.unwrap();
        let page = again.messages(&Viewer::User, &thread("main"), Default::default()).await.unwrap();
        let found: Vec<_> = page.messages.iter().map(|message| message.content.as_str().unwrap()).collect();
        assert_eq!(found, words);
        assert_eq!(again.why(&Viewer::User, "a\0b").await.unwrap().len(), 1);
        assert_sound(&again).await;
    }
}
