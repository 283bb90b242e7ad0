/**
 * WGSL: the shortlist, in no order. A token's place among the others is the sum of the masses before it. Each thread adds
 * it up for its own tokens, so nothing is sorted.
 */
export const SHORTLIST_WGSL = /* wgsl */ `
const SHORTLIST_SIZE = 512u;

const BY_ID = 0u;
const BY_LIKELIHOOD = 1u;

var<workgroup> num_shortlisted: atomic<u32>;
var<workgroup> shortlist_ids: array<u32, SHORTLIST_SIZE>;
var<workgroup> shortlist_keys: array<u32, SHORTLIST_SIZE>;
var<workgroup> shortlist_masses: array<u32, SHORTLIST_SIZE>;

/** Lists the kept tokens that may matter. Returns their number, even if they are too many to be listed. */
fn make_shortlist(thread: u32, measure: u32, floor_key: u32, negligible: u32) -> u32 {
  if (thread == 0u) {
    atomicStore(&num_shortlisted, 0u);
  }
  workgroupBarrier();
  let end = vocab_size();
  for (var id = thread; id < end; id += WORKGROUP_SIZE) {
    let key = key_at(id);
    if (key < floor_key || !is_kept(id, key) || mass_of(key, measure) < negligible) {
      continue;
    }
    let index = atomicAdd(&num_shortlisted, 1u);
    if (index < SHORTLIST_SIZE) {
      shortlist_ids[index] = id;
      shortlist_keys[index] = key;
    }
  }
  workgroupBarrier();
  if (thread == 0u) {
    found[0] = vec4u(atomicLoad(&num_shortlisted), 0u, 0u, 0u);
  }
  return workgroupUniformLoad(&found[0]).x;
}

fn weigh_shortlist(thread: u32, count: u32, measure: u32) {
  for (var index = thread; index < count; index += WORKGROUP_SIZE) {
    let key = shortlist_keys[index];
    shortlist_masses[index] = select(0u, mass_of(key, measure), is_kept(shortlist_ids[index], key));
  }
  workgroupBarrier();
}

fn total_of_shortlist(thread: u32, count: u32) -> vec2u {
  if (thread == 0u) {
    var total = vec2u(0u);
    for (var index = 0u; index < count; index++) {
      total = add(total, vec2u(shortlist_masses[index], 0u));
    }
    found[0] = vec4u(total, 0u, 0u);
  }
  return workgroupUniformLoad(&found[0]).xy;
}

/** Key and id of the token at which the sum of masses passes the target; after weigh_shortlist. */
fn find_in_shortlist(thread: u32, count: u32, order: u32, target_mass: vec2u) -> vec2u {
  for (var index = thread; index < count; index += WORKGROUP_SIZE) {
    let before = mass_before(index, count, order);
    let with_it = add(before, vec2u(shortlist_masses[index], 0u));
    if (!is_greater(before, target_mass) && is_greater(with_it, target_mass)) {
      found[0] = vec4u(shortlist_keys[index], shortlist_ids[index], 0u, 0u);
    }
  }
  return workgroupUniformLoad(&found[0]).xy;
}

fn mass_before(index: u32, count: u32, order: u32) -> vec2u {
  let id = shortlist_ids[index];
  let key = shortlist_keys[index];
  var sum = vec2u(0u);
  for (var other = 0u; other < count; other++) {
    let other_key = shortlist_keys[other];
    let has_lower_id = shortlist_ids[other] < id;
    let is_likelier = other_key > key || (other_key == key && has_lower_id);
    if (select(is_likelier, has_lower_id, order == BY_ID)) {
      sum = add(sum, vec2u(shortlist_masses[other], 0u));
    }
  }
  return sum;
}
`;
