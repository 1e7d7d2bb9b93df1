//! What is particular to a cluster: where namespaces are, and that they move.

use callboard_store::{
    Settings,
    conformance::{
        Fixture as _,
        journal_writer::{JournalWriter, note},
    },
    open,
};

use super::fixtures::{Admin, Clustered, namespace};

#[tokio::test]
async fn namespaces_spread_over_the_nodes_and_any_node_leads_to_each() {
    let fixture = Clustered::fresh().await;
    let mut with_data = 0;
    for _ in 0..12 {
        let name = namespace();
        for (node, text) in fixture.cluster.nodes().iter().zip(["a", "b", "c"]) {
            let store = open(&node.url(&name), Settings::default()).await.unwrap();
            JournalWriter::with(&store, text, "hello").await;
            assert_eq!(JournalWriter::new(&store, "a").texts().await, ["hello"]);
        }
    }
    for node in fixture.cluster.nodes() {
        let keys: usize = Admin::of(node).await.tell("DBSIZE").await;
        with_data += usize::from(keys > 0);
    }
    assert_eq!(with_data, 3);
}

#[tokio::test]
async fn a_namespace_that_moves_to_another_node_is_followed() {
    let fixture = Clustered::fresh().await;
    let store = fixture.open().await;
    let mut journal = JournalWriter::with(&store, "s", "a").await;
    let name = fixture.url.split_once("namespace=").unwrap().1;
    let nodes = fixture.cluster.nodes();
    let slot: u16 = Admin::of(&nodes[0]).await.tell(&format!("CLUSTER KEYSLOT {{{name}}}:format")).await;
    let from = usize::from(slot) / 5462;
    let (from, to) = (&nodes[from], &nodes[(from + 1) % 3]);
    let (mut here, mut there) = (Admin::of(from).await, Admin::of(to).await);
    let (old, new): (String, String) = (here.tell("CLUSTER MYID").await, there.tell("CLUSTER MYID").await);
    there.tell::<()>(&format!("CLUSTER SETSLOT {slot} IMPORTING {old}")).await;
    here.tell::<()>(&format!("CLUSTER SETSLOT {slot} MIGRATING {new}")).await;
    let keys: Vec<String> = here.tell(&format!("CLUSTER GETKEYSINSLOT {slot} 1000")).await;
    for key in keys {
        here.tell::<String>(&format!("MIGRATE 127.0.0.1 {} {key} 0 5000", to.port())).await;
    }
    for admin in [&mut there, &mut here] {
        admin.tell::<()>(&format!("CLUSTER SETSLOT {slot} NODE {new}")).await;
    }
    journal.write([note("b")]).await;
    assert_eq!(journal.texts().await, ["a", "b"]);
}
