import { expect, it } from 'vitest';
import { rotaryTables } from '../program/rope.ts';
import { readRope } from './rope.ts';

const HEAD_SIZE = 64;
const POSITION = 4000;

/** Pairs of a head's values whose golden values follow. */
const PAIRS = [0, 1, 5, 11, 16, 21, 27, 31] as const;

/** From `LlamaRotaryEmbedding` of huggingface/transformers 5.23, in fp32, at position 4000. */
const GOLDEN = [
  {
    parameters: {},
    frequencies: [
      1, 0.749894202, 0.237137362, 0.0421696492, 0.00999999978, 0.00237137382, 0.000421696488, 0.00013335215,
    ],
    attentionFactor: 1,
    cos: [-0.729947, -0.7996526, 0.9777081, 0.567443, -0.6669381, -0.9981573, -0.1157297, 0.8610789],
    sin: [-0.6835038, 0.6004629, -0.2099687, -0.8234127, 0.7451131, -0.06068031, 0.9932808, 0.5084714],
  },
  {
    parameters: { type: 'linear', factor: 4 },
    frequencies: [
      0.25, 0.18747355, 0.0592843406, 0.0105424123, 0.00249999994, 0.000592843455, 0.000105424122,
      3.33380376e-5,
    ],
    attentionFactor: 1,
    cos: [0.5623791, -0.5845929, -0.05286108, -0.239499, -0.8390715, -0.7177584, 0.9123959, 0.9911218],
    sin: [0.8268796, 0.8113268, -0.9986019, -0.9708966, -0.5440211, 0.6962923, 0.4093089, 0.1329573],
  },
  {
    parameters: { type: 'dynamic', factor: 2 },
    frequencies: [
      1, 0.749894202, 0.237137362, 0.0421696492, 0.00999999978, 0.00237137382, 0.000421696488, 0.00013335215,
    ],
    attentionFactor: 1,
    cos: [-0.729947, -0.7996526, 0.9777081, 0.567443, -0.6669381, -0.9981573, -0.1157297, 0.8610789],
    sin: [-0.6835038, 0.6004629, -0.2099687, -0.8234127, 0.7451131, -0.06068031, 0.9932808, 0.5084714],
  },
  {
    parameters: {
      rope_type: 'llama3',
      rope_theta: 500_000,
      factor: 32,
      low_freq_factor: 1,
      high_freq_factor: 4,
      original_max_position_embeddings: 8192,
    },
    frequencies: [
      1, 0.663601279, 0.128687382, 0.0109895291, 0.000429556705, 5.68723226e-6, 4.85673127e-7, 9.41830649e-8,
    ],
    attentionFactor: 1,
    cos: [-0.729947, -0.9711564, 0.8908046, 0.9997076, -0.146897, 0.9997413, 0.9999981, 0.9999999],
    sin: [-0.6835038, 0.2384437, -0.4543866, -0.02418017, 0.9891518, 0.02274697, 0.001942691, 0.0003767323],
  },
  {
    parameters: { type: 'yarn', rope_theta: 1e6, factor: 4, original_max_position_embeddings: 32_768 },
    frequencies: [
      1, 0.649381638, 0.115478203, 0.00865964312, 0.000583333371, 2.88695483e-5, 2.16491094e-6, 3.84981632e-7,
    ],
    attentionFactor: 1.138629436111989,
    cos: [-0.8311391, -0.9582977, -1.133089, -1.134891, -0.7865177, 1.131046, 1.138587, 1.138628],
    sin: [-0.7782575, 0.6149328, -0.1121904, -0.09218888, 0.8233267, 0.1311948, 0.009860002, 0.001753405],
  },
  {
    parameters: {
      type: 'yarn',
      factor: 40,
      beta_fast: 16,
      beta_slow: 2,
      mscale: 0.7,
      mscale_all_dim: 1,
      original_max_position_embeddings: 4096,
      truncate: false,
    },
    frequencies: [
      1, 0.749894202, 0.237137362, 0.0421696492, 0.00579010462, 5.92843462e-5, 1.05424124e-5, 3.33380353e-6,
    ],
    attentionFactor: 0.9191559952044436,
    cos: [-0.6709352, -0.7350055, 0.8986663, 0.5215687, -0.3592288, 0.8934329, 0.9183389, 0.9190743],
    sin: [-0.6282466, 0.5519191, -0.192994, -0.7568447, -0.8460511, 0.2159291, 0.038749, 0.01225678],
  },
];

it.each(GOLDEN)(
  'rotates by $parameters as transformers does',
  ({ parameters, attentionFactor, ...golden }) => {
    const rope = readRope(parameters, { headSize: HEAD_SIZE, theta: 1e4, contextLength: 131_072 });
    expect(rope.attentionFactor).toBeCloseTo(attentionFactor, 12);
    const { cos, sin } = rotaryTables(rope, POSITION + 1);
    expect(cos).toHaveLength((POSITION + 1) * (HEAD_SIZE / 2));
    for (const [i, pair] of PAIRS.entries()) {
      const at = POSITION * (HEAD_SIZE / 2) + pair;
      expect((rope.frequencies[pair] ?? NaN) / (golden.frequencies[i] ?? NaN)).toBeCloseTo(1, 6);
      // A frequency that is rounded the other way turns by 2e-4 at this position.
      expect(cos[at]).toBeCloseTo(golden.cos[i] ?? NaN, 6);
      expect(sin[at]).toBeCloseTo(golden.sin[i] ?? NaN, 6);
    }
  },
);

it('takes the ratio of the contexts for a factor that yarn leaves out', () => {
  const parameters = { rope_type: 'yarn', factor: null, original_max_position_embeddings: 32_768 };
  const defaults = { headSize: HEAD_SIZE, theta: 1e4, contextLength: 131_072 };
  expect(readRope(parameters, defaults)).toEqual(readRope({ ...parameters, factor: 4 }, defaults));
});
