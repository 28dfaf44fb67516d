// Says so when the token was wrong; the form itself needs no script.
if (location.search === "?wrong") {
  document.getElementById("wrong").textContent = "This is not the token.";
}
