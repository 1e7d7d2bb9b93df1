pub(super) mod answer;
