// The scripts of the page. Without them everything can be read, and done with forms.
import "./menus.js";
import "./conversation.js";
import "./keys.js";
import "./live.js";
import "./search.js";
import "./importing.js";
