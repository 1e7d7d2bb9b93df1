import { mount } from "svelte";

import App from "./App.svelte";
import "./design/tokens.css";
import "./design/base.css";
import { followTheme } from "./frame/theme.svelte";

followTheme();
const target = document.getElementById("page");
if (target) mount(App, { target });
