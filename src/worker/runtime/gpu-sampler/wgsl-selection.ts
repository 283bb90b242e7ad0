/**
 * WGSL: exact selection by a whole workgroup. Masses (counts or weights) are integers, so neither the order in which
 * threads add them nor their number changes anything. Every function that holds a barrier returns the same value to
 * each thread.
 *
 * Passes over the vocabulary are the cost. Once few tokens are left that matter, they go on a shortlist, and later steps
 * read only these.
 */
export const SELECTION_WGSL = /* wgsl */ `
const ONE_EACH = 0u;
const WEIGHT = 1u;

const NOBODY = 0xffffffffu;

/** The tokens that are left: keys above cut_key, and of those equal to it the ids up to cut_id. */
struct Kept {
  cut_key: u32,
  cut_id: u32,
}
var<private> kept: Kept;

/** One thread's result, read by all. */
var<workgroup> found: array<vec4u, 2>;

fn keep_all() {
  kept = Kept(0u, NOBODY);
}

fn is_kept(id: u32, key: u32) -> bool {
  return key > kept.cut_key || (key == kept.cut_key && id <= kept.cut_id);
}

fn mass_of(key: u32, measure: u32) -> u32 {
  if (measure == ONE_EACH) {
    return 1u;
  }
  return weight_of_key(key);
}

/** The sum of the weights. num_listed is 0 if there is no shortlist; then the whole vocabulary is summed. */
fn total_mass(thread: u32, num_listed: u32) -> vec2u {
  if (num_listed > 0u) {
    weigh_shortlist(thread, num_listed, WEIGHT);
    return total_of_shortlist(thread, num_listed);
  }
  fill_chunks(thread, WEIGHT, NOBODY);
  return total_of_chunks(thread);
}

/** The token at which the sum of weights, in order of id, passes the target, which is below the total; after total_mass. */
fn find_at(thread: u32, num_listed: u32, target_mass: vec2u) -> u32 {
  if (num_listed > 0u) {
    return find_in_shortlist(thread, num_listed, BY_ID, target_mass).y;
  }
  return walk(thread, WEIGHT, NOBODY, target_mass);
}

/**
 * Keeps the smallest set of the likeliest tokens whose mass reaches \`needed\`, which is at least 1 and at most the mass of the
 * kept tokens. Tokens below the floor, and those with less than the negligible mass, are known not to be in it. Returns
 * how many are listed now.
 */
fn keep_likeliest(
  thread: u32, num_listed: u32, measure: u32, needed: vec2u, floor_key: u32, negligible: u32,
) -> u32 {
  var count = num_listed;
  if (count == 0u) {
    count = make_shortlist(thread, measure, floor_key, negligible);
  }
  let before_border = subtract(needed, vec2u(1u, 0u));
  if (count <= SHORTLIST_SIZE) {
    weigh_shortlist(thread, count, measure);
    let border = find_in_shortlist(thread, count, BY_LIKELIHOOD, before_border);
    kept.cut_key = border.x;
    kept.cut_id = border.y;
    return count;
  }
  cut_vocabulary(thread, measure, needed, floor_key, negligible);
  return 0u;
}
`;
