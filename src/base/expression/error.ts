/** The path of a string in a tree: keys and list indices. */
export type TreePath = readonly (string | number)[];

export class ExpressionError extends Error {
  override readonly name = 'ExpressionError';
  readonly expression: string;
  readonly path: TreePath;
  readonly hint: string | undefined;

  constructor(expression: string, message: string, { path, hint }: { path: TreePath; hint?: string }) {
    super(message);
    this.expression = expression;
    this.path = path;
    this.hint = hint;
  }
}

export type Variables = Readonly<Record<string, unknown>>;
