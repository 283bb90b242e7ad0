/** The parts of typedoc's JSON that are read or changed here. */
export interface Reflection {
  readonly id: number;
  readonly name: string;
  readonly kind: number;
  readonly flags: { readonly isInherited?: boolean; readonly isOptional?: boolean };
  readonly comment?: Comment;
  readonly children?: readonly Reflection[];
  readonly sources?: readonly { readonly fileName: string }[];
  /** Set for the project only: the source of each declaration, by its ID. */
  readonly symbolIdMap?: Readonly<Record<string, unknown>>;
  /** The target is an ID if the model has it. */
  readonly inheritedFrom?: { readonly target?: unknown };
  readonly type?: { readonly type: string; readonly value?: unknown };
  readonly [field: string]: unknown;
}

interface Comment {
  readonly summary: readonly { readonly kind: string; readonly text: string }[];
  readonly [field: string]: unknown;
}

/** Values of typedoc's `ReflectionKind`. */
export const KIND = {
  module: 2,
  variable: 32,
  function: 64,
  class: 128,
  interface: 256,
  constructor: 512,
  property: 1024,
  method: 2048,
  typeAlias: 2_097_152,
  reference: 4_194_304,
} as const;
