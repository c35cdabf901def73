// Compiled against the generated types, never run: what a client may send and what it reads.
import type { components, paths } from "./api";

type Json<Operation> = Operation extends {
  requestBody?: { content: { "application/json": infer Body } };
}
  ? Body
  : never;

export const opened: Json<paths["/api/negotiations"]["post"]> = {
  title: "Laptops",
  role: "buyer",
  issues: [{ name: "price", type: "money", range: { min: "100.00", max: 200 } }],
  constraints: [{ issue: "price", op: "in", value: [100, "150.00"] }],
};

export const changed: Json<paths["/api/wins/{id}"]["patch"]> = {
  notes: null,
  baseline: { amount: "120.00", as_of: null },
};

// @ts-expect-error a win has a currency: no patch removes it
export const wrong: Json<paths["/api/wins/{id}"]["patch"]> = { currency: null };

export const title = (view: components["schemas"]["NegotiationView"]): string => view.title;
