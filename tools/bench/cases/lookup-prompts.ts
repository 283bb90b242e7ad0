/** People of the texts that are rewritten: name, trade, town, year, goods, price. */
const PEOPLE = [
  ['Martha Lind', 'baker', 'Oakfield', 1987, 'rye bread', 4],
  ['Peter Novak', 'carpenter', 'Riverton', 1994, 'oak tables', 320],
  ['Amina Yusuf', 'tailor', 'Harborview', 2003, 'winter coats', 85],
  ['Luis Ortega', 'gardener', 'Greenhill', 1979, 'apple trees', 25],
  ['Grace Kim', 'potter', 'Claydon', 2011, 'tea bowls', 18],
  ['Henrik Dahl', 'boat builder', 'Northport', 1968, 'rowing boats', 1450],
  ['Sofia Rossi', 'cook', 'Belmonte', 1999, 'jars of sauce', 6],
  ['Omar Haddad', 'bookbinder', 'Eastbridge', 2008, 'leather notebooks', 32],
  ['Nora Quinn', 'beekeeper', 'Meadowbrook', 2015, 'jars of honey', 9],
  ['Jan Vermeer', 'glazier', 'Southgate', 1983, 'stained windows', 540],
] as const;

type Person = (typeof PEOPLE)[number];

function storyOf([name, trade, town, year, goods, price]: Person): string {
  return `${name} is a ${trade} in ${town}. The shop opened in ${year} and stands beside the old bridge. Every morning, ${name} unlocks the green door, sweeps the floor and puts ${goods} into the window. They cost ${price} dollars each. Visitors come to ${town} from far away to buy them, and on Sundays the shop is closed.`;
}

const CODE = [
  `function average(items) {
  let total = 0;
  for (const item of items) {
    total += item.value;
  }
  if (items.length === 0) return 0;
  return total / items.length;
}`,
  `def read_lines(path):
    total = []
    with open(path) as file:
        for line in file:
            line = line.strip()
            if line and not line.startswith("#"):
                total.append(line)
    return total`,
  `class Counter {
  constructor() {
    this.total = new Map();
  }
  add(key) {
    const count = this.total.get(key) ?? 0;
    this.total.set(key, count + 1);
    return this.total.get(key);
  }
}`,
  `SELECT customers.name, SUM(orders.total) AS total
FROM customers
JOIN orders ON orders.customer_id = customers.id
WHERE orders.total > 100
GROUP BY customers.name
ORDER BY total DESC;`,
] as const;

const NAMES = ['sum', 'result', 'amount', 'entries', 'summary'] as const;

const TOPICS =
  'rain bread tides rust magnets echoes yeast glass thunder soap volcanoes batteries bees compasses clouds fire salt tea ice paper'.split(
    ' ',
  );

/** Forty prompts whose answers stand in them for the most part: stories with a change, JSON from a story, code with another name. */
export const REWRITING: readonly string[] = [
  ...PEOPLE.flatMap((person) => [
    `Repeat this text, but write "Alex Moore" instead of "${person[0]}":\n\n${storyOf(person)}`,
    `Write the name, trade, town, year, goods and price of this text as JSON:\n\n${storyOf(person)}`,
  ]),
  ...CODE.flatMap((code) => NAMES.map((name) => `Rename \`total\` to \`${name}\` in this code:\n\n${code}`)),
].map(chatOf);

/** Forty questions whose answers don't stand in them. */
export const CHATS: readonly string[] = TOPICS.flatMap((topic) => [
  `Explain ${topic} to a child in three sentences.`,
  `Write a short poem about ${topic}.`,
]).map(chatOf);

/** In the markup of the model's template. */
function chatOf(question: string): string {
  return `<|im_start|>user\n${question}<|im_end|>\n<|im_start|>assistant\n`;
}
