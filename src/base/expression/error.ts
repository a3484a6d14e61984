/** The way to a string inside a tree: keys and list indices. */
export type TreePath = readonly (string | number)[];

/** A `${…}` that cannot be compiled; `path` leads to its string inside the tree. */
export class ExpressionError extends Error {
  override readonly name = 'ExpressionError';
  readonly expression: string;
  readonly path: TreePath;
  /** What to do next, where that is known. */
  readonly hint: string | undefined;

  constructor(expression: string, message: string, { path, hint }: { path: TreePath; hint?: string }) {
    super(message);
    this.expression = expression;
    this.path = path;
    this.hint = hint;
  }
}

/** Values of variables, by name. */
export type Variables = Readonly<Record<string, unknown>>;
