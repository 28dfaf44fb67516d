// The control API over HTTP: POST /api/<service>/<rpc> with JSON, and server-sent events.

const PACKAGE = "mockdriver.control.v1.";

/** What the server refused: `code` as gRPC names it, `error` the name of the error. */
export class Refused extends Error {
  constructor({ code, error, message }) {
    super(message);
    this.code = code;
    this.error = error;
  }
}

/** Tell whether the server has no such service. */
export const isMissing = (error) => error instanceof Refused && error.code === "UNIMPLEMENTED";

async function post(path, body) {
  let response;
  try {
    response = await fetch(path, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(body),
    });
  } catch {
    throw new Refused({ code: "UNAVAILABLE", error: "Gone", message: "the server does not answer" });
  }
  if (response.status === 401) location.assign("/login");
  const answer = await response.json();
  if (!response.ok) throw new Refused(answer);
  return answer;
}

/** Make one call: `call("Cloud/Attach", {instance: "i-1", disk: "vol-1"})`. */
export const call = (rpc, request = {}) => post(`/api/${PACKAGE}${rpc}`, request);

/** Make several calls at once; the answers come in their order, a Refused where one was refused. */
export async function batch(calls) {
  const body = calls.map(([rpc, request = {}]) => ({ call: PACKAGE + rpc, request }));
  const answers = await post("/api/batch", body);
  return answers.map(({ answer, error }) => (error ? new Refused(error) : answer));
}

/** Follow a stream; `on` has answers(list, skipped), open(), lost(). Goes on until closed. */
export function follow(rpc, request, on) {
  const query = encodeURIComponent(JSON.stringify(request));
  let source;
  let timer;
  const open = () => {
    source = new EventSource(`/api/${PACKAGE}${rpc}?request=${query}`);
    source.onopen = () => on.open();
    source.onmessage = (event) => {
      const { answers, skipped } = JSON.parse(event.data);
      on.answers(answers, skipped);
    };
    const again = () => {
      source.close();
      on.lost();
      clearTimeout(timer);
      timer = setTimeout(open, 1000);
    };
    source.onerror = again;
    source.addEventListener("refused", again);
  };
  open();
}
