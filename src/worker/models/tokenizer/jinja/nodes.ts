import type { Value } from './values.ts';

export interface CallArguments {
  readonly positional: readonly Expression[];
  readonly named: readonly (readonly [string, Expression])[];
  /** `*list` */
  readonly rest?: Expression;
  /** `**mapping` */
  readonly namedRest?: Expression;
}

export type Expression =
  | { readonly type: 'constant'; readonly value: Value }
  | { readonly type: 'name'; readonly name: string }
  | { readonly type: 'list' | 'tuple' | 'concat'; readonly items: readonly Expression[] }
  | { readonly type: 'dict'; readonly pairs: readonly (readonly [Expression, Expression])[] }
  | { readonly type: 'attribute'; readonly object: Expression; readonly name: string }
  | { readonly type: 'item'; readonly object: Expression; readonly key: Expression }
  | { readonly type: 'slice'; readonly bounds: readonly (Expression | undefined)[] }
  | { readonly type: 'call'; readonly callee: Expression; readonly args: CallArguments }
  | FilterExpression
  | {
      readonly type: 'test';
      readonly value: Expression;
      readonly name: string;
      readonly args: CallArguments;
    }
  | { readonly type: 'unary'; readonly operator: 'not' | '-' | '+'; readonly value: Expression }
  | {
      readonly type: 'and' | 'or';
      readonly left: Expression;
      readonly right: Expression;
    }
  | {
      readonly type: 'binary';
      readonly operator: string;
      readonly left: Expression;
      readonly right: Expression;
    }
  | {
      readonly type: 'compare';
      readonly first: Expression;
      readonly rest: readonly (readonly [string, Expression])[];
    }
  | {
      readonly type: 'condition';
      readonly test: Expression;
      readonly value: Expression;
      readonly otherwise: Expression | undefined;
    };

export interface FilterExpression {
  readonly type: 'filter';
  /** Undefined for the text of a block. */
  readonly value: Expression | undefined;
  readonly name: string;
  readonly args: CallArguments;
}

export type Target =
  | { readonly type: 'name'; readonly name: string }
  | { readonly type: 'member'; readonly name: string; readonly member: string }
  | { readonly type: 'tuple'; readonly items: readonly Target[] };

export interface Signature {
  readonly params: readonly string[];
  /** Defaults of the last parameters. */
  readonly defaults: readonly Expression[];
  readonly body: readonly Statement[];
}

export type Statement =
  | { readonly type: 'output'; readonly parts: readonly (string | Expression)[] }
  | {
      readonly type: 'if';
      readonly branches: readonly { readonly test: Expression; readonly body: readonly Statement[] }[];
      readonly otherwise: readonly Statement[];
    }
  | ForStatement
  | { readonly type: 'set'; readonly target: Target; readonly value: Expression }
  | {
      readonly type: 'setBlock';
      readonly target: Target;
      readonly filter: FilterExpression | undefined;
      readonly body: readonly Statement[];
    }
  | { readonly type: 'macro'; readonly name: string; readonly signature: Signature }
  | { readonly type: 'callBlock'; readonly call: Expression; readonly signature: Signature }
  | { readonly type: 'filterBlock'; readonly filter: FilterExpression; readonly body: readonly Statement[] }
  | {
      readonly type: 'with';
      readonly bindings: readonly (readonly [Target, Expression])[];
      readonly body: readonly Statement[];
    }
  | { readonly type: 'break' | 'continue' };

export interface ForStatement {
  readonly type: 'for';
  readonly target: Target;
  readonly items: Expression;
  readonly test: Expression | undefined;
  readonly isRecursive: boolean;
  readonly body: readonly Statement[];
  readonly otherwise: readonly Statement[];
}
