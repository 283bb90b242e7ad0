/** The prompts of the tutorials that this project starts from. */
export const SAMPLE_PROMPTS: readonly string[] = [
  'Once upon a time,',
  'Hi my name is Lewis and I like to',
  'My name is Mary, and my favorite',
  'My name is Clara and I am',
  'My name is Julien and I like to',
  'Today I accidentally',
  'My greatest wish is to',
  'In a galaxy far far away',
  'My best talent is',
];
