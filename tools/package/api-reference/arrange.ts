import { KIND, type Reflection } from './model.ts';
import { groupByTopic, isError } from './topics.ts';

/** Factories of errors are for the package's own code, except this one: `checkInput` throws what it makes. */
const PUBLIC_FACTORY = 'InvalidOptionError.of';

/**
 * Makes pages of typedoc's model that a user can read: a page is named as an import names its entry, its headings are topics,
 * an error is its code and cause, and a type that has a name is not spelled out where it is used.
 *
 * @param nameOf The name of the entry that a module of the model is.
 */
export function arrange(project: Reflection, nameOf: (module: string) => string): object {
  const modules = (project.children ?? []).map((module) => {
    const children = (module.children ?? []).map((child) =>
      isError(child) ? shortenError(child) : withoutInheritedMethods(child),
    );
    const groups = groupByTopic(children);
    // The renderer numbers anchors in the order of the children.
    const order = groups.flatMap((group) => group.children);
    const sorted = children.toSorted((a, b) => order.indexOf(a.id) - order.indexOf(b.id));
    return { ...module, name: nameOf(module.name), children: sorted, groups };
  });
  const typeOf = createFinder(modules.flatMap(({ children }) => children));
  const pages = withNames(modules, typeOf);
  const left = idsIn(pages);
  const symbols = Object.entries(project.symbolIdMap ?? {}).filter(([id]) => left.has(Number(id)));
  return { ...project, children: pages, groups: [], symbolIdMap: Object.fromEntries(symbols) };
}

/** All declarations that stay on the pages, at any depth. */
function idsIn(value: unknown): ReadonlySet<number> {
  const ids = new Set<number>();
  JSON.stringify(value, (key, field: unknown) => {
    if (key === 'id' && typeof field === 'number') ids.add(field);
    return field;
  });
  return ids;
}

/** Methods stand once, at the type that the page links as the base. */
function withoutInheritedMethods(type: Reflection): Reflection {
  if (!type.children?.some(isRepeated)) return type;
  const { groups: _groups, ...rest } = type;
  return { ...rest, children: type.children.filter((child) => !isRepeated(child)) };
}

function isRepeated({ kind, inheritedFrom }: Reflection): boolean {
  return kind === KIND.method && typeof inheritedFrom?.target === 'number' && inheritedFrom.target > 0;
}

/** Leaves what users read of an error: its code, its cause and its own fields. */
function shortenError({ extendedTypes: _bases, groups: _groups, ...error }: Reflection): Reflection {
  const code = error.children?.find(({ name }) => name === 'code')?.type?.value;
  const isCode = typeof code === 'string';
  const children = error.children?.filter(
    (child) =>
      `${error.name}.${child.name}` === PUBLIC_FACTORY ||
      (child.kind === KIND.property && isOwnField(child) && !(isCode && child.name === 'code')),
  );
  const summary = [
    ...(isCode ? [{ kind: 'text', text: `Code \`${code}\`. ` }] : []),
    ...(error.comment?.summary ?? []),
  ];
  return { ...error, comment: { ...error.comment, summary }, children: children ?? [] };
}

function isOwnField({ name, flags }: Reflection): boolean {
  return name === 'code' || (name !== 'name' && !flags.isInherited);
}

type FindType = (value: unknown) => Reflection | undefined;

/** Finds the exported type that a type is, spelled out: by its brand, or by its fields if no two have the same. */
function createFinder(exported: readonly Reflection[]): FindType {
  const byName = new Map(exported.map((type) => [type.name, type]));
  const byShape = Map.groupBy(
    exported.filter(({ kind }) => kind === KIND.interface),
    shapeOf,
  );
  return (value) => {
    const brand = brandOf(value);
    if (typeof brand === 'string') return byName.get(brand);
    const [type, ...others] = isObjectType(value) ? (byShape.get(shapeOf(value.declaration)) ?? []) : [];
    return others.length === 0 ? type : undefined;
  };
}

/**
 * Replaces types by their names, at any depth. Sources are left out: they name emitted declarations.
 *
 * @param owner The ID of the declaration that holds the value: a type's own declaration spells it out.
 */
function withNames(value: unknown, typeOf: FindType, owner?: unknown): unknown {
  if (Array.isArray(value)) return value.map((entry) => withNames(entry, typeOf, owner));
  if (typeof value !== 'object' || value === null) return value;
  const type = typeOf(value);
  if (type && type.id !== owner)
    return { type: 'reference', target: type.id, name: type.name, packageName: 'tabserve' };
  const holder = 'id' in value ? value.id : owner;
  const fields = Object.entries(value).filter(([name]) => name !== 'sources');
  return Object.fromEntries(fields.map(([name, field]) => [name, withNames(field, typeOf, holder)]));
}

function isObjectType(value: unknown): value is { readonly declaration: Reflection } {
  return isOfType(value, 'reflection') && 'declaration' in value;
}

function isOfType(value: unknown, type: string): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && 'type' in value && value.type === type;
}

/** The names of its fields, and which may be missing. */
function shapeOf({ children = [] }: Reflection): string {
  const fields = children.map(({ name, flags }) => (flags.isOptional ? `${name}?` : name));
  return fields.toSorted().join();
}

/** The name of an ID's type, which is a string with a brand. */
function brandOf(value: unknown): unknown {
  const types = isOfType(value, 'intersection') ? value['types'] : undefined;
  if (!Array.isArray(types)) return undefined;
  const [brand] = types.filter(isObjectType).flatMap(({ declaration }) => declaration.children ?? []);
  return brand?.name === '__brand' ? brand.type?.value : undefined;
}
