// Requests to the server. The header proves that they come from this page.

const token = new URLSearchParams(location.search).get("token");
const headers = { "X-Hopvec": token ?? "explore" };

async function request(path, signal) {
  let response;
  try {
    response = await fetch(`/api/${path}`, { headers, signal });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Error("The explorer does not respond. Start it again.");
  }
  if (!response.ok) throw new Error(await response.text());
  return response;
}

export async function fetchJson(path, signal) {
  return (await request(path, signal)).json();
}

// An array of numbers, as raw little-endian bytes.
export async function fetchArray(path, Kind) {
  return new Kind(await (await request(path)).arrayBuffer());
}

// A fetchJson that aborts its previous request; an aborted request returns null.
export function latestOnly() {
  let previous = null;
  return async (path) => {
    previous?.abort();
    const current = (previous = new AbortController());
    try {
      return await fetchJson(path, current.signal);
    } catch (error) {
      if (error.name === "AbortError") return null;
      throw error;
    }
  };
}
