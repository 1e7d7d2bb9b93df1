pub(super) mod give;
pub(super) mod schema;
