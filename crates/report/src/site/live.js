// Follows a run that is under way: asks how far it has come, and puts new figures and charts in place of earlier ones.
(() => {
  "use strict";
  const progress = document.getElementById("progress");
  if (!("goesOn" in progress.dataset)) return;
  const run = progress.dataset.run;
  const classes = { "under way": "now", unfinished: "partial" };
  // A machine that measures must not be kept busy by those who watch: asking takes at most a tenth of the time.
  const PAUSE = 1000;
  const SHARE = 10;

  const put = (id, text) => {
    const element = document.getElementById(id);
    if (element.textContent !== text) element.textContent = text;
  };

  const ask = async (address) => {
    const answer = await fetch(address);
    if (!answer.ok) throw new Error(`${address}: ${answer.status}`);
    return answer.text();
  };

  // Puts a step's section in place, leaving open what the reader has opened.
  const replace = async (place, step) => {
    const text = await ask(`/live/${run}/step/${step.anchor}`);
    const opened = [...place.querySelectorAll("details")].map((one) => one.open);
    const fresh = new DOMParser().parseFromString(text, "text/html").querySelector("section");
    [...fresh.querySelectorAll("details")].forEach((one, index) => { one.open = Boolean(opened[index]); });
    place.style.minHeight = `${place.offsetHeight}px`;
    place.replaceChildren(document.adoptNode(fresh));
    place.dispatchEvent(new Event("replaced", { bubbles: true }));
    place.style.minHeight = "";
  };

  const show = async (told) => {
    const badge = document.getElementById("state");
    badge.className = `badge ${classes[told.state] ?? told.state}`;
    put("state", told.state);
    put("line", told.line);
    put("speed", told.speed);
    put("report", told.goes_on ? "Partial report" : "Report");
    progress.querySelector("progress").value = told.share;
    for (const step of told.steps) {
      const item = progress.querySelector(`[data-of="${step.anchor}"]`);
      item.dataset.mark = step.mark;
      item.querySelector(".kept").textContent = step.words;
    }
    for (const step of told.steps) {
      const place = document.querySelector(`[data-step="${step.anchor}"]`);
      if (!place || Number(place.dataset.kept) === step.kept) continue;
      // What was cut short is taken back, and a step may then have nothing.
      if (step.kept > 0) await replace(place, step);
      else place.replaceChildren();
      place.dataset.kept = step.kept;
    }
  };

  const follow = async () => {
    const since = performance.now();
    let goesOn = true;
    try {
      const told = JSON.parse(await ask(`/live/${run}/state`));
      await show(told);
      goesOn = told.goes_on;
    } catch (error) {
      put("speed", "The server does not respond; retrying.");
    }
    if (goesOn) setTimeout(follow, Math.max(PAUSE, SHARE * (performance.now() - since)));
  };
  setTimeout(follow, PAUSE);
})();
