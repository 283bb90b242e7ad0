import { uniformFloat64 } from 'pure-rand/distribution/uniformFloat64';
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';

import { MAX_REQUESTS, type Arrivals, type Lengths, type Scenario, type Trace } from './scenario.ts';

/** The length of the list from which a closed loop takes its requests. */
const NUM_CLOSED_LOOP_REQUESTS = 500;

/** Returns a number in [0, 1). */
type Random = () => number;

/**
 * Draws all requests of a scenario: a pure function of the scenario. Arrivals have a generator of their own, so that the same
 * requests come at every rate.
 */
export function createTrace(scenario: Scenario): Trace {
  const { arrivals, durationSeconds, seed } = scenario;
  const random = createRandom(seed);
  const times = arrivalsMs(arrivals, durationSeconds, createRandom(~seed)).slice(0, MAX_REQUESTS);
  const requests = times.map((atMs) => ({
    atMs,
    prompt: createPrompt(drawLength(scenario.promptWords, random), random),
    maxNewTokens: drawLength(scenario.outputTokens, random),
    seed: Math.floor(random() * 2 ** 32),
  }));
  if (arrivals.type !== 'closed-loop') return { requests };
  return { requests, closedLoop: { numUsers: arrivals.numUsers, durationSeconds } };
}

function createRandom(seed: number): Random {
  const generator = xoroshiro128plus(seed | 0);
  return () => uniformFloat64(generator);
}

/** In ms from the start, ascending. */
function arrivalsMs(arrivals: Arrivals, durationSeconds: number, random: Random): readonly number[] {
  switch (arrivals.type) {
    case 'closed-loop':
      return Array.from({ length: NUM_CLOSED_LOOP_REQUESTS }, () => 0);
    case 'poisson':
      return poissonMs(arrivals.ratePerSecond, arrivals.ratePerSecond, durationSeconds, random);
    case 'ramp':
      return poissonMs(arrivals.fromPerSecond, arrivals.toPerSecond, durationSeconds, random);
    case 'burst': {
      const numBursts = Math.ceil(durationSeconds / arrivals.everySeconds);
      const bursts = Array.from({ length: Math.min(numBursts, MAX_REQUESTS) }, (_, burst) =>
        Array.from({ length: arrivals.burstSize }, () => burst * arrivals.everySeconds * 1000),
      );
      return bursts.flat();
    }
  }
}

/**
 * The rate changes linearly. Thinning (Lewis and Shedler 1979): arrivals at the highest rate, each kept with the
 * probability rate / highest rate.
 */
function poissonMs(
  fromPerSecond: number,
  toPerSecond: number,
  durationSeconds: number,
  random: Random,
): readonly number[] {
  const maxPerSecond = Math.max(fromPerSecond, toPerSecond);
  const times: number[] = [];
  let seconds = 0;
  while (times.length < MAX_REQUESTS) {
    seconds -= Math.log(1 - random()) / maxPerSecond;
    if (seconds >= durationSeconds) break;
    const rate = fromPerSecond + ((toPerSecond - fromPerSecond) * seconds) / durationSeconds;
    if (random() * maxPerSecond < rate) times.push(seconds * 1000);
  }
  return times;
}

function drawLength({ type, min, max }: Lengths, random: Random): number {
  switch (type) {
    case 'fixed':
      return max;
    case 'uniform':
      return min + Math.floor(random() * (max - min + 1));
    case 'long-tail':
      return Math.min(max, min + Math.floor((-Math.log(1 - random()) * (max - min)) / 4));
  }
}

/** From the kind of stories that the embedded model writes. */
const WORDS =
  'once upon a time there was a little girl who lived in the old house by the sea and every day she went to look for her friend the dog'.split(
    ' ',
  );

/** Starts at a random word, so that prompts differ. */
function createPrompt(numWords: number, random: Random): string {
  const start = Math.floor(random() * WORDS.length);
  return Array.from({ length: numWords }, (_, index) => WORDS[(start + index) % WORDS.length]).join(' ');
}
