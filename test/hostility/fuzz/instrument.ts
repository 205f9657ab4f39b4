import { readFileSync } from "node:fs";
import { registerHooks } from "node:module";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { NOTES } from "./note.ts";

const PLACES = 1 << 16;
let places = NOTES;

/** Where the code that was loaded counts: one octet a place, as often as it was passed. */
export const countsOfLoaded = (): Uint8Array => (globalThis.hostilityCounts ?? new Uint8Array(0)).subarray(0, places);

/** From here on, modules of these rooms count the branches that they take. */
export function countBranches(room: RegExp): void {
  globalThis.hostilityCounts = new Uint8Array(PLACES);
  registerHooks({
    load(url, context, next) {
      if (!url.startsWith("file:") || !room.test(url)) return next(url, context);
      const source = counted(readFileSync(fileURLToPath(url), "utf8"));
      return { format: "module", source, shortCircuit: true };
    },
  });
}

/** The JavaScript of a TypeScript module, with a count in each branch. */
export function counted(source: string): string {
  const compilerOptions = {
    target: ts.ScriptTarget.ESNext,
    module: ts.ModuleKind.ESNext,
    verbatimModuleSyntax: true,
  };
  return ts.transpileModule(source, { compilerOptions, transformers: { before: [withCounts] } }).outputText;
}

const { factory: f } = ts;

// globalThis.hostilityCounts[n]++
function count(): ts.Expression {
  const counts = f.createPropertyAccessExpression(f.createIdentifier("globalThis"), "hostilityCounts");
  return f.createPostfixIncrement(f.createElementAccessExpression(counts, places++ % PLACES));
}

const before = (expression: ts.Expression): ts.Expression =>
  f.createParenthesizedExpression(f.createComma(count(), f.createParenthesizedExpression(expression)));
const first = (statements: readonly ts.Statement[]): ts.Statement[] => [
  f.createExpressionStatement(count()),
  ...statements,
];
const block = (statement: ts.Statement): ts.Block => f.createBlock(first([statement]), true);

const SHORT_CIRCUITS = [
  ts.SyntaxKind.AmpersandAmpersandToken,
  ts.SyntaxKind.BarBarToken,
  ts.SyntaxKind.QuestionQuestionToken,
];

const withCounts: ts.TransformerFactory<ts.SourceFile> = (context) => {
  const visit = (node: ts.Node): ts.Node => {
    const seen = ts.visitEachChild(node, visit, context);
    if (ts.isBlock(seen)) return f.updateBlock(seen, first(seen.statements));
    if (ts.isArrowFunction(seen) && !ts.isBlock(seen.body))
      return f.updateArrowFunction(
        seen,
        seen.modifiers,
        seen.typeParameters,
        seen.parameters,
        seen.type,
        seen.equalsGreaterThanToken,
        before(seen.body),
      );
    if (ts.isConditionalExpression(seen))
      return f.updateConditionalExpression(
        seen,
        seen.condition,
        seen.questionToken,
        before(seen.whenTrue),
        seen.colonToken,
        before(seen.whenFalse),
      );
    if (ts.isBinaryExpression(seen) && SHORT_CIRCUITS.includes(seen.operatorToken.kind))
      return f.updateBinaryExpression(seen, seen.left, seen.operatorToken, before(seen.right));
    if (ts.isIfStatement(seen)) {
      const other = seen.elseStatement ?? f.createBlock([]);
      return f.updateIfStatement(seen, seen.expression, block(seen.thenStatement), block(other));
    }
    if (ts.isForOfStatement(seen))
      return f.updateForOfStatement(seen, seen.awaitModifier, seen.initializer, seen.expression, block(seen.statement));
    if (ts.isForStatement(seen))
      return f.updateForStatement(seen, seen.initializer, seen.condition, seen.incrementor, block(seen.statement));
    if (ts.isWhileStatement(seen)) return f.updateWhileStatement(seen, seen.expression, block(seen.statement));
    if (ts.isCaseClause(seen)) return f.updateCaseClause(seen, seen.expression, first(seen.statements));
    if (ts.isDefaultClause(seen)) return f.updateDefaultClause(seen, first(seen.statements));
    return seen;
  };
  return (file) => ts.visitEachChild(file, visit, context);
};
