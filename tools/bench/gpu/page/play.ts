import type { Contender, Continuation, PeerRequest } from '../../peers/contender.ts';

export interface PlayedRequest {
  readonly continuation: Continuation;
  /** When each token or piece of text came, in ms after the requests were sent. */
  readonly tokenMs: readonly number[];
}

export interface Played {
  /** From sending the requests to the last answer. */
  readonly wallMs: number;
  readonly requests: readonly PlayedRequest[];
}

/** Sends all requests in one turn. */
export async function play(contender: Contender, requests: readonly PeerRequest[]): Promise<Played> {
  const startedAtMs = performance.now();
  const played = await Promise.all(
    requests.map(async (request) => {
      const tokenMs: number[] = [];
      const onToken = (): void => void tokenMs.push(performance.now() - startedAtMs);
      return { continuation: await contender.generate(request, onToken), tokenMs };
    }),
  );
  return { wallMs: performance.now() - startedAtMs, requests: played };
}
