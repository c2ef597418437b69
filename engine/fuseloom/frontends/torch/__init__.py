"""PyTorch modules as programs; PyTorch itself is imported on first use only."""

from fuseloom.frontends.torch.frontend import from_torch
from fuseloom.frontends.torch.imported import (
    Agreement,
    ImportedKernel,
    ImportedModule,
    ImportedOutput,
)

__all__ = ["Agreement", "ImportedKernel", "ImportedModule", "ImportedOutput", "from_torch"]
