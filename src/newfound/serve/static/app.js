// Forms and buttons of the pages. Text is always inserted as text; the server makes the HTML.
"use strict";

(() => {
  const json = { "Content-Type": "application/json" };
  const problem = document.getElementById("problem");

  if (window.htmx) {
    // The content policy allows neither inline styles nor eval.
    htmx.config.includeIndicatorStyles = false;
    htmx.config.allowEval = false;
    htmx.config.allowScriptTags = false;
    htmx.config.selfRequestsOnly = true;
    htmx.config.historyEnabled = false;
    htmx.defineExtension("json", {
      onEvent: (name, event) => {
        if (name === "htmx:configRequest") event.detail.headers["Content-Type"] = "application/json";
      },
      encodeParameters: (request, parameters, element) => {
        // Of a file only its own fields, not those of the form around it.
        const file = element.closest(".preview");
        const given = file
          ? [...file.querySelectorAll("[name]")].map(({ name, value }) => [name, value])
          : [...parameters.entries()];
        const data = given.map(([name, value]) => [name, value || (file ? null : value)]);
        return JSON.stringify(Object.fromEntries(data));
      },
    });
  }

  const fail = (detail) => {
    if (!problem) return;
    problem.textContent = detail;
    problem.hidden = false;
    problem.scrollIntoView({ block: "nearest" });
  };

  const send = async (method, address, body, headers = json) => {
    if (problem) problem.hidden = true;
    let answer;
    try {
      answer = await fetch(address, { method, body, headers });
    } catch {
      throw new Error("The service does not answer; is it still running?");
    }
    const data = await answer.json().catch(() => ({}));
    if (!answer.ok) throw new Error(data.detail ?? `The service answered ${answer.status}.`);
    return data;
  };

  const go = (then, data) => {
    if (then === "reload") location.reload();
    else location.assign(then ?? `/runs/${data.id}`);
  };

  // Buttons that send something or delete something.
  document.addEventListener("click", async (event) => {
    const button = event.target.closest("button[data-post], button[data-delete]");
    if (!button) return;
    if (button.dataset.confirm && !confirm(button.dataset.confirm)) return;
    button.disabled = true;
    try {
      const data = button.dataset.post
        ? await send("POST", button.dataset.post, button.dataset.body)
        : await send("DELETE", button.dataset.delete);
      go(button.dataset.then, data);
    } catch (error) {
      button.disabled = false;
      fail(error.message);
    }
  });

  // Forms whose fields are the body.
  for (const form of document.querySelectorAll("form[data-form]:not(#own)")) {
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      const data = {};
      for (const field of form.querySelectorAll("[name]")) {
        data[field.name] = "number" in field.dataset ? Number(field.value) : field.value;
      }
      try {
        go(form.dataset.then, await send("POST", form.dataset.form, JSON.stringify(data)));
      } catch (error) {
        fail(error.message);
      }
    });
  }

  // Files: each is uploaded as soon as it is chosen, and looked at.
  const octets = { "Content-Type": "application/octet-stream" };
  const upload = async (slot, file) => {
    const preview = slot.querySelector(".preview");
    const note = document.createElement("p");
    note.className = "why";
    note.textContent = `Reading ${file.name} …`;
    preview.replaceChildren(note);
    try {
      const name = encodeURIComponent(file.name);
      const data = await send("POST", `/v1/uploads?name=${name}`, file, octets);
      const wants = encodeURIComponent(slot.dataset.wants);
      await htmx.ajax("GET", `/pages/uploads/${data.id}?wants=${wants}`, preview);
    } catch (error) {
      note.className = "notice";
      note.textContent = error.message;
      preview.replaceChildren(note);
    }
  };
  for (const slot of document.querySelectorAll(".slot")) {
    const input = slot.querySelector("input[type=file]");
    input.addEventListener("change", () => input.files[0] && upload(slot, input.files[0]));
    slot.addEventListener("dragover", (event) => {
      event.preventDefault();
      slot.classList.add("over");
    });
    slot.addEventListener("dragleave", () => slot.classList.remove("over"));
    slot.addEventListener("drop", (event) => {
      event.preventDefault();
      slot.classList.remove("over");
      if (event.dataTransfer.files[0]) upload(slot, event.dataTransfer.files[0]);
    });
  }
  for (const input of document.querySelectorAll("input[data-import]")) {
    input.addEventListener("change", async () => {
      const file = input.files[0];
      if (!file) return;
      try {
        const name = encodeURIComponent(file.name);
        await send("POST", `${input.dataset.import}?name=${name}`, file, octets);
        location.reload();
      } catch (error) {
        fail(error.message);
      }
    });
  }

  // The form of one's own documents.
  const own = document.getElementById("own");
  if (own) {
    const way = () => own.elements.way.value;
    const show = () => {
      for (const part of own.querySelectorAll("[data-way]")) {
        part.hidden = !part.dataset.way.split(" ").includes(way());
      }
    };
    own.addEventListener("change", () => {
      show();
      document.getElementById("problem").hidden = true; // it was about what has just been changed
    });
    show();
    const documents = (name) => {
      const slot = own.querySelector(`[data-slot=${name}]`);
      const given = {};
      for (const field of slot.querySelectorAll(".preview [name]")) {
        if (field.value) given[field.name] = field.value;
      }
      if (!given.upload) {
        throw new Error(`Choose a file first: ${slot.querySelector("b").textContent.toLowerCase()}.`);
      }
      return given;
    };
    const value = (name) => own.elements[name].value.trim() || null;
    own.addEventListener("submit", async (event) => {
      event.preventDefault();
      try {
        const body = { name: value("name"), top: 100 };
        const options = { language: value("language"), random_state: Number(value("random_state") ?? 0) };
        if (own.elements.redact.checked) options.redact = true;
        if (value("ignore")) options.ignore = value("ignore");
        const names = { known_name: value("known_name"), novel_name: value("novel_name") };
        const left = value("stop_words");
        if (left && way() !== "detect") options.stop_words = left.split(/[\s,]+/).filter(Boolean);
        if (way() === "detect") {
          if (value("model")) body.model = value("model");
          else {
            body.known = documents("learned");
            if (own.elements.encoder?.value) body.encoder = own.elements.encoder.value;
          }
          Object.assign(body, options, { incoming: documents("incoming"), alpha: Number(value("alpha")) });
        } else if (way() === "dates") {
          const { label_column: column, ...given } = documents("documents");
          const by = column ? `column:${column}` : value("by");
          Object.assign(body, { documents: given, dates_from: value("dates_from"), by });
          if (!body.dates_from && !by) throw new Error("Choose the day on which the new documents begin, a period, or a column to compare.");
          if (!by) Object.assign(body, names);
          body.parameters = options;
        } else {
          Object.assign(body, { known: documents("known"), novel: documents("novel") });
          Object.assign(body, names);
          body.parameters = options;
        }
        const address = way() === "detect" ? "/v1/detect" : "/v1/describe";
        go(null, await send("POST", address, JSON.stringify(body)));
      } catch (error) {
        fail(error.message);
      }
    });
  }

  // The progress of a run.
  const run = document.querySelector("[data-events]");
  if (run && ["queued", "running"].includes(run.dataset.state)) {
    const stage = document.getElementById("stage");
    const bar = document.getElementById("progress");
    const left = ({ done, total, since }) => {
      const seconds = ((Date.now() - Date.parse(since)) / 1000) * (total / done - 1);
      if (!done || !Number.isFinite(seconds) || seconds < 0) return "";
      const units = [["s", 1, 90], ["min", 60, 5400], ["h", 3600, Infinity]];
      const [unit, length] = units.find(([, , most]) => seconds < most);
      return `, about ${Math.ceil(seconds / length)} ${unit} left`;
    };
    const update = (event) => {
      const job = JSON.parse(event.data);
      if (!["queued", "running"].includes(job.state)) {
        events.close();
        location.reload();
        return;
      }
      const at = job.progress;
      if (!at) return;
      const share = at.total ? at.done / at.total : 0;
      stage.textContent = `${at.stage}${share ? `: ${Math.floor(100 * share)} %${left(at)}` : " …"}`;
      if (share) bar.value = share;
      else bar.removeAttribute("value");
    };
    const events = new EventSource(run.dataset.events);
    for (const state of ["queued", "running", "finished", "failed", "cancelled", "interrupted"]) {
      events.addEventListener(state, update);
    }
  }
  document.documentElement.dataset.served = "true";
})();
