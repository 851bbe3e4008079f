// What the page asks of the server. The header is what keeps other pages out.

const token = new URLSearchParams(location.search).get("token");
const headers = { "X-Hopvec": token ?? "explore" };

async function answer(path, signal) {
  let response;
  try {
    response = await fetch(`/api/${path}`, { headers, signal });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Error("The explorer does not answer. Start it again in the terminal.");
  }
  if (!response.ok) throw new Error(await response.text());
  return response;
}

export async function ask(path, signal) {
  return (await answer(path, signal)).json();
}

// An array of numbers as it lies in the memory of the server.
export async function askNumbers(path, Kind) {
  return new Kind(await (await answer(path)).arrayBuffer());
}

// Asks one thing at a time: what was asked before is given up.
export function oneAtATime() {
  let last = null;
  return async (path) => {
    last?.abort();
    const own = (last = new AbortController());
    try {
      return await ask(path, own.signal);
    } catch (error) {
      if (error.name === "AbortError") return null;
      throw error;
    }
  };
}
