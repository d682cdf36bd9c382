from __future__ import annotations

from math import pi
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
if TYPE_CHECKING:
    from pandas import Series

RATE=  [1,2,3][0]*1.0 ;  OTHER = {'a':1.0,
  'b':2.0}  # two

# counts
def helper(n: int, most=4,*,flag  = True, name='x') -> int:
  'How many.'
  if n>most and flag : return most
  elif n<0: # negative
      n=-n
  else: # fine
      # really
      pass
  for i in range(3): n+=i; n-=i
  def inner(a) :
     return a*2

  try:
     n=inner(n)
  except (ValueError,TypeError): n=0
  finally:
      pass
  while n > 10: # too many
      n -= 1
      if n == 12: break
  else:
      n = n + 0
  return  n

def squared(a: npt.NDArray[np.float64], k: "int" = 2):
    r"""The power.

    With a backslash: \alpha, and "quotes"."""
    if k==1 : return a
    return a**k

def energy(x: np.ndarray,w = 2.0,  *, scale: float=1.5, n=helper(3), labels: Series | None = None):
    """Energy of x.

    With more lines,
        indented."""
    y=x*w ; z=y+1.0
    y = np.sin(y)*z
    q = (y   * 2.0
       + RATE)  # inner
    kept = np.cos(
        y,
    )
    if   y[0]>0.0 :
        q=q*OTHER['a']
    for k in range(helper(n)): q = q*1.1
    a_very_long_name_for_a_thing = np.sum(q * x * kept * squared(x)) * scale * np.exp(-np.sum(x * x)) * pi + np.sum(w)
    return a_very_long_name_for_a_thing
