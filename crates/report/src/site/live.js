// Follows a run that is under way: asks how far it has come, and puts new figures and charts in place of earlier ones.
(() => {
  "use strict";
  const progress = document.getElementById("progress");
  if (!("goesOn" in progress.dataset)) return;
  const run = progress.dataset.run;
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

  // What the server has drawn, as elements.
  const parsed = (text) => document.adoptNode(new DOMParser().parseFromString(text, "text/html").body);

  // Puts a step's section in place, leaving open what the reader has opened.
  const replace = async (place, step) => {
    const fresh = parsed(await ask(`/live/${run}/step/${step.anchor}`)).querySelector("section");
    const opened = [...place.querySelectorAll("details")].map((one) => one.open);
    [...fresh.querySelectorAll("details")].forEach((one, index) => { one.open = Boolean(opened[index]); });
    place.style.minHeight = `${place.offsetHeight}px`;
    place.replaceChildren(fresh);
    place.dispatchEvent(new Event("replaced", { bubbles: true }));
    place.style.minHeight = "";
  };

  let curve = "";
  const draw = async (told) => {
    const now = JSON.stringify(told.curve);
    if (now === curve) return;
    const text = told.curve ? await ask(`/live/${run}/curve`) : "";
    document.getElementById("curve").replaceChildren(...parsed(text).childNodes);
    curve = now;
  };

  const show = async (told) => {
    document.getElementById("state").className = `badge ${told.state}`;
    put("state", told.state);
    put("step", told.step ?? "");
    put("line", told.line);
    put("speed", told.speed);
    put("report", told.goes_on ? "Partial report" : "Report");
    progress.querySelector("progress").value = told.share;
    await draw(told);
    for (const step of told.steps) {
      const item = progress.querySelector(`[data-of="${step.anchor}"]`);
      item.dataset.mark = step.mark;
      item.querySelector(".kept").textContent = step.words;
    }
    for (const step of told.steps) {
      const place = document.querySelector(`[data-step="${step.anchor}"]`);
      if (!place) continue;
      place.dataset.mark = step.mark;
      if (Number(place.dataset.kept) === step.kept) continue;
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
      const told = JSON.parse(await ask(`/api/runs/${run}/live`));
      await show(told);
      goesOn = told.goes_on;
    } catch (error) {
      put("speed", "The server does not respond; retrying.");
    }
    if (goesOn) setTimeout(follow, Math.max(PAUSE, SHARE * (performance.now() - since)));
  };
  setTimeout(follow, PAUSE);
})();
