// Posts the token that stands behind the # of the address, and removes it from the address and the history.
const token = new URLSearchParams(location.hash.slice(1)).get("t");
if (token) {
  history.replaceState(null, "", location.pathname + location.search);
  document.getElementById("token").value = token;
  document.querySelector("form").requestSubmit();
}
