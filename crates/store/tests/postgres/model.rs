//! Random commands, given to Postgres and to the store in memory: every answer is the same.

use proptest::test_runner::Config;

use crate::{fixture::Postgres, model_of};

proptest::proptest! {
    #![proptest_config(model_of::config())]

    #[test]
    fn postgres_behaves_like_memory(commands in proptest::collection::vec(model_of::command(), 1..60)) {
        model_of::compare::<Postgres>(1, commands);
    }
}

proptest::proptest! {
    // Three handles take three times as long to open.
    #![proptest_config(Config { cases: model_of::config().cases.div_ceil(3), ..model_of::config() })]

    #[test]
    fn several_handles_on_postgres_behave_like_memory(
        commands in proptest::collection::vec(model_of::command(), 1..60)
    ) {
        model_of::compare::<Postgres>(3, commands);
    }
}
