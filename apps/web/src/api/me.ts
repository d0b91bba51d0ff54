import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { Me } from "./shapes.js";

const NOBODY: Me = { name: "", role: "viewer", login: true };

export const MeContext = createContext<Me>(NOBODY);

export function useMe(): Me {
  return useContext(MeContext);
}
