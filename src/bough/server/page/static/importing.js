// A file that is dropped anywhere on the import screen, and how much of it is sent.
const form = document.getElementById("drop");
if (form) {
  for (const name of ["dragover", "dragleave", "drop"]) addEventListener(name, (event) => {
    event.preventDefault();
    form.classList.toggle("over", name === "dragover");
    if (name === "drop" && event.dataTransfer.files.length) {
      form.elements.file.files = event.dataTransfer.files;
      form.requestSubmit();
    }
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const request = new XMLHttpRequest(), progress = document.getElementById("progress"), main = document.getElementById("main");
    progress.hidden = false;
    main.setAttribute("aria-busy", "true");
    request.upload.onprogress = (at) => { progress.value = at.loaded / at.total; };
    request.open("POST", form.action);
    request.responseType = "document";
    request.onload = () => {
      const next = request.response?.getElementById("main");
      if (next) main.replaceWith(document.adoptNode(next));
      document.querySelector(".notice")?.scrollIntoView();
    };
    request.onloadend = () => main.removeAttribute("aria-busy");
    request.send(new FormData(form));
  });
}
