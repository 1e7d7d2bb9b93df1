//! SQLite and the store in memory pass the suite of all stores.

mod memory {
    use crate::fixtures::Memory;

    callboard_store::conformance!(Memory);
}

mod sqlite {
    use crate::fixtures::Sqlite;

    callboard_store::conformance!(Sqlite);
    callboard_store::conformance_of_durable!(Sqlite);
}
