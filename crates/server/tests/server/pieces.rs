//! Where the parts of a prompt stand in its text.

use serde_json::json;

use crate::fixtures::Server;

#[tokio::test]
async fn the_pieces_of_a_text_are_all_of_it_in_order() {
    let server = Server::start().await;
    let team = server.team("s").await;
    let set = json!({"content": "Ünïcode — 日本語 🦀\n".repeat(30)});
    server.send("PUT", &format!("{team}/context-sets/facts"), set).await.is(200);
    let said: Vec<_> =
        (0..20).map(|n| json!({"role": "user", "content": format!("größer {n} 🦀 ").repeat(20)})).collect();
    server.send("POST", &format!("{team}/threads/main/messages"), json!({"messages": said})).await.is(200);
    for budget in [1200, 100_000] {
        let ask = json!({"agent": "writer", "budget": budget, "pieces": true});
        let prompt = server.send("POST", &format!("{team}/prompt"), ask).await.is(200).body;
        let text: Vec<char> = prompt["text"].as_str().unwrap().chars().collect();
        let (pieces, parts) = (prompt["pieces"].as_array().unwrap(), prompt["parts"].as_array().unwrap());
        assert_eq!(pieces.len(), parts.len());
        let mut at = 0;
        for (piece, part) in pieces.iter().zip(parts) {
            assert_eq!((&piece["part"], &piece["tokens"]), (&part["name"], &part["tokens"]));
            assert_eq!(piece["shortened"], part["shortened"]);
            let (start, end) = (piece["start"].as_u64().unwrap(), piece["end"].as_u64().unwrap());
            assert!(start == at && end > start, "{piece}");
            let shown: String = text[usize::try_from(start).unwrap()..usize::try_from(end).unwrap()].iter().collect();
            assert_eq!(shown.contains("日本語"), piece["part"] == "context_sets", "{piece}: {shown}");
            at = end;
        }
        assert_eq!(at, text.len() as u64);
        assert_eq!(pieces.iter().map(|piece| piece["tokens"].as_u64().unwrap()).sum::<u64>(), prompt["tokens"]);
    }
    for unasked in [json!({"agent": "writer"}), json!({"agent": "writer", "format": "openai", "pieces": true})] {
        assert!(server.send("POST", &format!("{team}/prompt"), unasked).await.is(200).body.get("pieces").is_none());
    }
}
