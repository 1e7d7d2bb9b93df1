//! Random commands, given to SQLite and to the store in memory: every answer is the same.

use crate::{fixtures::Sqlite, model_of};

proptest::proptest! {
    #![proptest_config(model_of::config())]

    #[test]
    fn sqlite_behaves_like_memory(commands in proptest::collection::vec(model_of::command(), 1..60)) {
        model_of::compare::<Sqlite>(1, commands);
    }
}
