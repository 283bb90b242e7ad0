/** WGSL: passes over the whole vocabulary, in 256 groups for any number of threads. */
export const VOCABULARY_WGSL = /* wgsl */ `
const NUM_GROUPS = 256u;

var<workgroup> largest_key: atomic<u32>;
var<workgroup> lowest_id: atomic<u32>;
var<workgroup> lowest_fault: atomic<u32>;
/** The largest key among the ids of one remainder modulo 256. */
var<workgroup> group_keys: array<u32, NUM_GROUPS>;
/** 64-bit masses: one per digit of the key, per chunk of consecutive ids, or per token. */
var<workgroup> masses_low: array<atomic<u32>, NUM_GROUPS>;
var<workgroup> masses_high: array<atomic<u32>, NUM_GROUPS>;

/** The same in all threads, as the compiler knows of a buffer that is only read. */
fn vocab_size() -> u32 {
  return rows[0].vocab_size;
}

fn chunk_size() -> u32 {
  return (vocab_size() + NUM_GROUPS - 1u) / NUM_GROUPS;
}

struct Likeliest {
  /** The largest, and the lowest id that has it. */
  key: u32,
  id: u32,
  /** The lowest id of a logit that is NaN or +Infinity, else NOBODY. */
  fault: u32,
}

fn find_likeliest(thread: u32) -> Likeliest {
  if (thread == 0u) {
    atomicStore(&largest_key, 0u);
    atomicStore(&lowest_id, NOBODY);
    atomicStore(&lowest_fault, NOBODY);
  }
  let end = vocab_size();
  var own_key = 0u;
  var own_id = NOBODY;
  var own_fault = NOBODY;
  for (var group = thread; group < NUM_GROUPS; group += WORKGROUP_SIZE) {
    var group_key = 0u;
    for (var id = group; id < end; id += NUM_GROUPS) {
      if (is_fault(logits[view.start + id])) {
        own_fault = min(own_fault, id);
      }
      let key = key_at(id);
      group_key = max(group_key, key);
      if (key > own_key || (key == own_key && id < own_id)) {
        own_key = key;
        own_id = id;
      }
    }
    group_keys[group] = group_key;
  }
  workgroupBarrier();
  atomicMax(&largest_key, own_key);
  atomicMin(&lowest_fault, own_fault);
  workgroupBarrier();
  if (own_key == atomicLoad(&largest_key)) {
    atomicMin(&lowest_id, own_id);
  }
  workgroupBarrier();
  if (thread == 0u) {
    found[0] = vec4u(atomicLoad(&largest_key), atomicLoad(&lowest_id), atomicLoad(&lowest_fault), 0u);
  }
  let all = workgroupUniformLoad(&found[0]);
  return Likeliest(all.x, all.y, all.z);
}

/**
 * A lower bound of the k-th largest key, so that most tokens needn't be counted: the k-th largest of the groups' largest keys,
 * or 0 if k is larger than the number of groups. After find_likeliest.
 */
fn find_floor(thread: u32, k: u32) -> u32 {
  if (thread == 0u) {
    found[0] = vec4u(0u);
  }
  workgroupBarrier();
  for (var group = thread; group < NUM_GROUPS; group += WORKGROUP_SIZE) {
    let own_key = group_keys[group];
    var rank = 0u;
    for (var other = 0u; other < NUM_GROUPS; other++) {
      let key = group_keys[other];
      rank += select(0u, 1u, key > own_key || (key == own_key && other < group));
    }
    if (rank + 1u == k) {
      found[0].x = own_key;
    }
  }
  return workgroupUniformLoad(&found[0]).x;
}

/** keep_likeliest for any number of tokens: the key at the border digit by digit, then the last id among its equals. */
fn cut_vocabulary(thread: u32, measure: u32, needed: vec2u, floor_key: u32, negligible: u32) {
  var prefix = 0u;
  var rest = needed;
  var border = vec2u(0u);
  let end = vocab_size();
  for (var shift = 32u; shift > 0u; shift -= 8u) {
    for (var digit = thread; digit < NUM_GROUPS; digit += WORKGROUP_SIZE) {
      set_mass(digit, vec2u(0u));
    }
    workgroupBarrier();
    for (var id = thread; id < end; id += WORKGROUP_SIZE) {
      let key = key_at(id);
      // The first digit has no prefix to match, and WGSL can't shift by 32.
      if (key < floor_key || (shift < 32u && (key >> (shift & 31u)) != prefix) || !is_kept(id, key)) {
        continue;
      }
      let value = mass_of(key, measure);
      if (value >= negligible) {
        add_mass((key >> (shift - 8u)) & 0xffu, value);
      }
    }
    workgroupBarrier();
    if (thread == 0u) {
      var digit = NUM_GROUPS - 1u;
      while (digit > 0u && is_greater(rest, mass(digit))) {
        rest = subtract(rest, mass(digit));
        digit--;
      }
      found[0] = vec4u(digit, rest, 0u);
      found[1] = vec4u(mass(digit), 0u, 0u);
    }
    let at_digit = workgroupUniformLoad(&found[0]);
    border = workgroupUniformLoad(&found[1]).xy;
    prefix = (prefix << 8u) | at_digit.x;
    rest = at_digit.yz;
  }
  if (thread == 0u) {
    let with_one_more = add(rest, vec2u(mass_of(prefix, measure), 0u));
    found[0] = vec4u(select(1u, 0u, is_greater(with_one_more, border)), 0u, 0u, 0u);
  }
  let has_unneeded = workgroupUniformLoad(&found[0]).x;
  var last_id = select(NOBODY, kept.cut_id, prefix == kept.cut_key);
  if (has_unneeded == 1u) {
    fill_chunks(thread, measure, prefix);
    last_id = walk(thread, measure, prefix, subtract(rest, vec2u(1u, 0u)));
  }
  kept.cut_key = prefix;
  kept.cut_id = last_id;
}

/** Fills masses with the mass of each chunk of the vocabulary. */
fn fill_chunks(thread: u32, measure: u32, only_key: u32) {
  workgroupBarrier();
  let size = chunk_size();
  for (var chunk = thread; chunk < NUM_GROUPS; chunk += WORKGROUP_SIZE) {
    var sum = vec2u(0u);
    let end = min((chunk + 1u) * size, vocab_size());
    for (var id = chunk * size; id < end; id++) {
      sum = add(sum, vec2u(mass_at(id, measure, only_key), 0u));
    }
    set_mass(chunk, sum);
  }
  workgroupBarrier();
}

fn total_of_chunks(thread: u32) -> vec2u {
  if (thread == 0u) {
    var total = vec2u(0u);
    for (var chunk = 0u; chunk < NUM_GROUPS; chunk++) {
      total = add(total, mass(chunk));
    }
    found[0] = vec4u(total, 0u, 0u);
  }
  return workgroupUniformLoad(&found[0]).xy;
}

/** The token at which the sum of masses, in order of id, passes the target, which is below the total; after fill_chunks. */
fn walk(thread: u32, measure: u32, only_key: u32, target_mass: vec2u) -> u32 {
  if (thread == 0u) {
    find_passing(target_mass);
  }
  let at_chunk = workgroupUniformLoad(&found[0]);
  let size = chunk_size();
  let end = min((at_chunk.x + 1u) * size, vocab_size());
  var rest = at_chunk.yz;
  var start = at_chunk.x * size;
  // One round suffices for a vocabulary of up to 65,536 tokens.
  for (; start < end; start += NUM_GROUPS) {
    for (var index = thread; index < NUM_GROUPS; index += WORKGROUP_SIZE) {
      let id = start + index;
      var value = 0u;
      if (id < end) {
        value = mass_at(id, measure, only_key);
      }
      set_mass(index, vec2u(value, 0u));
    }
    workgroupBarrier();
    if (thread == 0u) {
      find_passing(rest);
    }
    let at_token = workgroupUniformLoad(&found[0]);
    if (at_token.x < NUM_GROUPS) {
      return start + at_token.x;
    }
    rest = at_token.yz;
  }
  return start;
}

/** By one thread: the index at which the sum of masses passes the target, or NUM_GROUPS, and what is left before it. */
fn find_passing(target_mass: vec2u) {
  var rest = target_mass;
  var index = 0u;
  while (index < NUM_GROUPS && !is_greater(mass(index), rest)) {
    rest = subtract(rest, mass(index));
    index++;
  }
  found[0] = vec4u(index, rest, 0u);
}

/** The mass of a token that is kept and, where one is named, has this key. */
fn mass_at(id: u32, measure: u32, only_key: u32) -> u32 {
  let key = key_at(id);
  if (!is_kept(id, key) || (only_key != NOBODY && key != only_key)) {
    return 0u;
  }
  return mass_of(key, measure);
}

fn mass(index: u32) -> vec2u {
  return vec2u(atomicLoad(&masses_low[index]), atomicLoad(&masses_high[index]));
}

fn set_mass(index: u32, value: vec2u) {
  atomicStore(&masses_low[index], value.x);
  atomicStore(&masses_high[index], value.y);
}

fn add_mass(index: u32, value: u32) {
  let before = atomicAdd(&masses_low[index], value);
  if (before + value < before) {
    atomicAdd(&masses_high[index], 1u);
  }
}
`;
