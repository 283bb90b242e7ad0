import { UNIT_SHARPNESS } from '../../../batching/sampling/logprobs.ts';
import { ROW_OPTIONS_WGSL } from './row-options.ts';
import { FAULT, RECORD } from './sample-record.ts';
import { INTEGERS_WGSL } from './wgsl-integers.ts';
import { LOGITS_WGSL } from './wgsl-logits.ts';
import { SELECTION_WGSL } from './wgsl-selection.ts';
import { SHORTLIST_WGSL } from './wgsl-shortlist.ts';
import { VOCABULARY_WGSL } from './wgsl-vocabulary.ts';
import { WEIGHTS_WGSL } from './wgsl-weights.ts';

/** Threads that sample one row: as many as WebGPU's default limits allow. */
const WORKGROUP_SIZE = 256;

/** Words of one row's mask. */
export function maskWordsOf(vocabSize: number): number {
  return Math.ceil(vocabSize / 32);
}

const BINDINGS_WGSL = /* wgsl */ `
struct Adjustment {
  /** 0 if neither prompt nor output has the token, else 1 + its count in the output. */
  num_seen: u32,
  bias: u32,
}

/** [rows, vocabulary], as bits, which alone show a NaN. */
@group(0) @binding(0) var<storage, read> logits: array<u32>;
@group(0) @binding(1) var<storage, read> rows: array<RowOptions>;
/** [adjustment rows, vocabulary] */
@group(0) @binding(2) var<storage, read_write> adjustments: array<Adjustment>;
/** [slots] each: the inputs of the next forward pass. */
@group(0) @binding(3) var<storage, read_write> ids: array<i32>;
@group(0) @binding(4) var<storage, read_write> positions: array<i32>;
@group(0) @binding(5) var<storage, read_write> last_indices: array<i32>;
/** A word per row, then a record per row. */
@group(0) @binding(6) var<storage, read_write> results: array<u32>;
/** [rows, words of a mask]: a bit for each token that may be sampled. Only rows with is_masked are read. */
@group(0) @binding(7) var<storage, read> masks: array<u32>;
`;

const MAIN_WGSL = /* wgsl */ `
const UNIT_SHARPNESS = ${UNIT_SHARPNESS}f;

var<workgroup> num_top_found: atomic<u32>;

@compute @workgroup_size(WORKGROUP_SIZE)
fn main(@builtin(workgroup_id) workgroup: vec3u, @builtin(local_invocation_index) thread: u32) {
  let row_index = workgroup.x;
  let row = rows[row_index];
  view.options = row;
  view.start = row_index * row.vocab_size;
  view.adjustments_start = row.adjustments_row * row.vocab_size;
  view.is_adjusted = row.is_adjusted == 1u;
  view.mask_start = row_index * ((row.vocab_size + 31u) / 32u);
  view.is_masked = row.is_masked == 1u;
  make_fractions(thread);
  var token_id = 0u;
  for (var round = 0u; round <= row.wants_logprobs; round++) {
    let is_record = round == 1u;
    if (is_record) {
      view.is_adjusted = false;
      view.is_masked = false;
    }
    let likeliest = find_likeliest(thread);
    if (!is_record) {
      if (likeliest.fault != NOBODY || likeliest.key <= KEY_OF_MINUS_INFINITY) {
        if (thread == 0u) {
          results[row_index] = fault_word(likeliest.fault);
          advance(row.slot, 0u);
        }
        return;
      }
      token_id = likeliest.id;
    }
    if (is_record || row.sharpness != 0.0) {
      let num_top = min(row.num_top, row.vocab_size);
      weigh_all(
        likeliest.key, select(row.sharpness, UNIT_SHARPNESS, is_record), select(row.smallest_weight, 1u, is_record),
      );
      var num_listed = 0u;
      var total = vec2u(0u);
      for (var index = 0u; index < 2u; index++) {
        var cut = Cut(vec2u(select(0u, num_top, index == 1u), 0u), ONE_EACH, 1u);
        if (!is_record) {
          cut = cut_by_options(row, index, total);
        }
        let is_cut = any(cut.needed != vec2u(0u));
        if (is_cut) {
          var floor_key = kept.cut_key;
          if (cut.measure == ONE_EACH) {
            floor_key = find_floor(thread, cut.needed.x);
          }
          num_listed = keep_likeliest(thread, num_listed, cut.measure, cut.needed, floor_key, cut.negligible);
        }
        if (index == 0u || (is_cut && !is_record)) {
          total = total_mass(thread, num_listed);
        }
      }
      if (is_record) {
        write_record(thread, row_index, likeliest.key, total, num_top, token_id);
      } else {
        let position = u32(last_indices[row.slot] + 1);
        token_id = find_at(thread, num_listed, share_of(total, random_units(row.seed, position)));
      }
    }
    if (thread == 0u && !is_record) {
      results[row_index] = token_id;
      advance(row.slot, token_id);
      if (row.is_adjusted == 1u) {
        let seen = &adjustments[view.adjustments_start + token_id].num_seen;
        *seen = max(*seen, 1u) + 1u;
      }
    }
  }
}

fn fault_word(fault: u32) -> u32 {
  if (fault == NOBODY) {
    return ${FAULT.onlyMinusInfinity}u;
  }
  return fault | select(${FAULT.nan}u, ${FAULT.plusInfinity}u, logits[view.start + fault] == PLUS_INFINITY);
}

/** Feeds the sampled token into the slot's next step. */
fn advance(slot: u32, token_id: u32) {
  ids[slot] = i32(token_id);
  positions[slot] += 1;
  last_indices[slot] += 1;
}

/** Writes the likeliest tokens under the raw logits, which alone are kept, with what their logprobs are computed from. */
fn write_record(thread: u32, row_index: u32, largest_key: u32, total: vec2u, num_top: u32, token_id: u32) {
  let num_rows = arrayLength(&results) / (1u + ${RECORD.length}u);
  let record = num_rows + row_index * ${RECORD.length}u;
  if (thread == 0u) {
    results[record + ${RECORD.sampledLogit}u] = logits[view.start + token_id];
    results[record + ${RECORD.largestLogit}u] = bitcast<u32>(logit_of(largest_key));
    results[record + ${RECORD.totalLow}u] = total.x;
    results[record + ${RECORD.totalHigh}u] = total.y;
    results[record + ${RECORD.numTop}u] = num_top;
  }
  if (num_top == 0u) {
    return;
  }
  let end = vocab_size();
  for (var id = thread; id < end; id += WORKGROUP_SIZE) {
    if (is_kept(id, key_at(id))) {
      let index = atomicAdd(&num_top_found, 1u);
      results[record + ${RECORD.topIds}u + index] = id;
      results[record + ${RECORD.topLogits}u + index] = logits[view.start + id];
    }
  }
}
`;

/**
 * `sampling.ts` for a whole batch: one workgroup per row, from logits to the inputs of the next forward pass. No row reads
 * what another row writes. It keeps to WebGPU's default limits and needs no feature.
 *
 * The draw and the record go through one loop: compilers inline each call, so the shader would take a half longer to compile.
 */
export const SAMPLER_SHADER = [
  `const WORKGROUP_SIZE = ${WORKGROUP_SIZE}u;`,
  ROW_OPTIONS_WGSL,
  BINDINGS_WGSL,
  INTEGERS_WGSL,
  WEIGHTS_WGSL,
  LOGITS_WGSL,
  SELECTION_WGSL,
  SHORTLIST_WGSL,
  VOCABULARY_WGSL,
  MAIN_WGSL,
].join('\n');
