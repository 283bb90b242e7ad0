import { KIND, type Reflection } from './model.ts';

/** Headings of an entry's page, by the source of what stands under them. The first match counts. */
const TOPICS: readonly (readonly [title: string, source: RegExp])[] = [
  ['Errors', /errors/],
  ['Connecting', /client\/client\.|own-scripts/],
  ['Requests', /client\/(?:handles|\w+-response)\./],
  ['Deployments', /protocol\/deployment\./],
  ['Text generation', /protocol\/(?:generation|chat)\.|batching\/(?:generation\/(?!policy)|sampling\/)/],
  ['Models', /model-source|protocol\/(?:models|ladder)\.|worker\/models\//],
  ['Status and policy', /protocol\/(?:status|recovery)\.|policy/],
  [
    'Figures and activity',
    /client\/topics\.|protocol\/(?:stats|requests|wire)|batching\/ids\.|latency-window/,
  ],
];

/** For what belongs to no topic. */
const OF_KIND: ReadonlyMap<number, string> = new Map([
  [KIND.function, 'Functions'],
  [KIND.class, 'Classes'],
  [KIND.variable, 'Constants'],
  [KIND.interface, 'Types'],
  [KIND.typeAlias, 'Types'],
  [KIND.reference, 'Also exported'],
]);

const ERRORS = 'Errors';

/** In the order of their headings: what one does, then types, then what goes wrong. */
const TITLES = [
  'Functions',
  'Classes',
  ...TOPICS.map(([title]) => title).filter((title) => title !== ERRORS),
  'Constants',
  'Types',
  ERRORS,
  'Also exported',
];

interface Group {
  readonly title: string;
  readonly children: readonly number[];
}

/** The headings of one page. */
export function groupByTopic(exported: readonly Reflection[]): readonly Group[] {
  const byTitle = Map.groupBy(exported, titleOf);
  return TITLES.flatMap((title) => {
    const members = byTitle.get(title) ?? [];
    return members.length === 0 ? [] : [{ title, children: members.toSorted(byKind).map(({ id }) => id) }];
  });
}

export function isError(reflection: Reflection): boolean {
  return reflection.kind === KIND.class && titleOf(reflection) === ERRORS;
}

function titleOf({ kind, sources }: Reflection): string {
  const source = sources?.[0]?.fileName ?? '';
  const topic = kind === KIND.reference ? undefined : TOPICS.find(([, pattern]) => pattern.test(source));
  return topic?.[0] ?? OF_KIND.get(kind) ?? 'Types';
}

/** Functions, then classes, then the rest as the source has them. */
function byKind(a: Reflection, b: Reflection): number {
  return rankOf(a) - rankOf(b);
}

function rankOf({ kind }: Reflection): number {
  return kind === KIND.function || kind === KIND.class ? kind : Number.MAX_SAFE_INTEGER;
}
