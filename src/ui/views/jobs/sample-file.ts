/** The same 500 reviews each time. They are made here, because a file of them would be larger than this one. */
export function createSampleFile(): File {
  const random = createRandom(20_26);
  const pick = <Item>(items: readonly [Item, ...Item[]]): Item =>
    items[Math.floor(random() * items.length)] ?? items[0];
  const lines = Array.from({ length: NUM_REVIEWS }, (_, index) => {
    const product = pick(PRODUCTS);
    const rating = 1 + Math.floor(random() * 5);
    const opinion = pick(rating > 3 ? PRAISE : rating < 3 ? COMPLAINTS : DOUBTS);
    const review = `${pick(OPENINGS)} ${product}. ${opinion} ${pick(ENDINGS)}`;
    return [index + 1, product, rating, review].map((cell) => `"${cell}"`).join(',');
  });
  return new File([['id,product,rating,review', ...lines, ''].join('\n')], 'sample-reviews.csv');
}

const NUM_REVIEWS = 500;

const PRODUCTS = [
  'kettle',
  'desk lamp',
  'backpack',
  'bicycle pump',
  'headphones',
  'office chair',
  'toaster',
] as const;

const OPENINGS = [
  'I have used it daily for a month, this',
  'My daughter asked for this',
  'It was a gift, this',
  'We needed a new',
  'After a long search I bought this',
] as const;

const PRAISE = [
  'It works perfectly and looks good.',
  'The quality is far better than the price suggests.',
  'It arrived a day early and was easy to set up.',
  'I would buy it again at once.',
] as const;

const DOUBTS = [
  'It does its job, no more.',
  'Good material, but the manual is useless.',
  'It is fine for the price.',
] as const;

const COMPLAINTS = [
  'It broke on the third day.',
  'The color is not the one in the picture.',
  'It came with a dent, and support never answered.',
  'It is so loud that we use it no more.',
] as const;

const ENDINGS = [
  'The delivery took four days.',
  'My neighbor has the same one.',
  'I paid 39 euros for it.',
  'We keep it in the kitchen.',
  'The box was larger than I expected.',
] as const;

/** Numbers from 0 to 1 that a seed fixes: Park and Miller’s generator. */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 48_271) % 0x7fff_ffff;
    return state / 0x7fff_ffff;
  };
}
